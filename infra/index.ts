import type { FunctionCode } from './function-code.ts';
import { builtCode, isBuilt } from './group-sync.ts';

export { ConnectorStack, type ConnectorStackProps } from './connector-stack.ts';
export { GroupSync, type GroupSyncProps } from './group-sync.ts';
export { readSettings, type Settings, SettingsError } from './settings.ts';

/**
 * Returns the code of every function, for the stack's property `code`.
 * @param outDir in a checkout, the folder for the bundles; in the package, not used
 */
export async function functionCode(outDir: string): Promise<FunctionCode> {
  return isBuilt() ? builtCode() : (await import('./bundle.ts')).bundleHandlers(outDir);
}
