/* The command line of a checkout, built. */
import { builtFolder } from './built.mjs';

/** @returns false where nothing can be built, and nothing was run */
export async function runBuilt() {
  const folder = await builtFolder(['cli/main.ts'], ['cli', 'console', 'shared']).catch(() => undefined);
  if (folder === undefined) return false;
  await import(new URL('main.mjs', folder).href);
  return true;
}
