/* Runs the CLI of a checkout from its built files. */
import { builtFolder } from './built.mjs';

/** @returns false if the build failed, so that no command was run */
export async function runBuilt() {
  const folder = await builtFolder(['cli/main.ts'], ['cli', 'console', 'shared']).catch(() => undefined);
  if (folder === undefined) return false;
  await import(new URL('main.mjs', folder).href);
  return true;
}
