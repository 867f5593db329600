import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FUNCTION_KEYS, OPTIONAL_FUNCTION_KEYS } from '../shared/contract/names.ts';
import type { FunctionCode } from './bundle.ts';

export { ConnectorStack, type ConnectorStackProps } from './connector-stack.ts';
export { readSettings, type Settings, SettingsError } from './settings.ts';

/** The folder of the built handlers in the package. A checkout has no such folder. */
const BUILT = fileURLToPath(new URL('functions', import.meta.url));

/**
 * Returns the code of every function, for the stack's property `code`.
 * @param outDir the folder for the bundles of a checkout; not used in the package
 */
export async function functionCode(outDir: string): Promise<FunctionCode> {
  if (!existsSync(BUILT)) return (await import('./bundle.ts')).bundleHandlers(outDir);
  const keys = [...FUNCTION_KEYS, ...OPTIONAL_FUNCTION_KEYS];
  return Object.fromEntries(keys.map((key) => [key, join(BUILT, key)])) as FunctionCode;
}
