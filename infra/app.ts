import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import * as z from 'zod';
import { ConnectorStack, functionCode } from './index.ts';
import { environmentOf, readSettings, SettingsError } from './settings.ts';

/** The settings of this deployment. The file is next to `cdk.json`, and git ignores it. */
const SETTINGS_FILE = 'groupsync.json';
const Settings = z.record(z.string(), z.unknown());

/** Builds the stack of one stage from cdk.json and the command line: `npx cdk synth | diff | deploy | destroy`. */
async function main(): Promise<void> {
  const app = new App();
  // Settings can be in a file that git ignores. Values of `-c` override the file.
  const context = { ...settingsFile(), ...(app.node.getAllContext() as Readonly<Record<string, unknown>>) };
  const settings = readSettings((name) => context[name], Object.keys(context));
  // Each run has its own folder, because two stages may be synthesised at the same time. The stack copies the bundles.
  const bundles = mkdtempSync(join(tmpdir(), 'groupsync-functions-'));
  new ConnectorStack(app, settings.prefix, {
    description: 'groupsync: keeps the groups of the Workforce Platform equal to those of the directory',
    env: environmentOf(settings),
    settings,
    code: await functionCode(bundles),
  });
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
  rmSync(bundles, { recursive: true });
}

function settingsFile(): Readonly<Record<string, unknown>> {
  if (!existsSync(SETTINGS_FILE)) return {};
  try {
    return Settings.parse(JSON.parse(readFileSync(SETTINGS_FILE, 'utf8')));
  } catch (error) {
    throw new SettingsError(
      `${SETTINGS_FILE}: expected a JSON object of settings (${(error as Error).message})`,
    );
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
