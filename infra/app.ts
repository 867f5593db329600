import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import * as z from 'zod';
import cdkJson from '../cdk.json' with { type: 'json' };
import { ConnectorStack, functionCode } from './index.ts';
import { environmentOf, readSettings, SettingsError } from './settings.ts';

/** The settings of this deployment, in the current folder. In a checkout, git ignores the file. */
const SETTINGS_FILE = 'groupsync.json';
const Settings = z.record(z.string(), z.unknown());

/** The stages and the feature flags of the CDK, for a user of the package, whose folder has no `cdk.json`. */
const { stages, ...FEATURE_FLAGS } = cdkJson.context;

/**
 * Builds the stack of one stage from its settings and the command line. `groupsync deploy` and every `cdk` command run
 * this program.
 */
async function main(): Promise<void> {
  const app = new App({ context: FEATURE_FLAGS });
  const given = app.node.getAllContext() as Readonly<Record<string, unknown>>;
  const { stage, stages: ofStages = stages, ...ofAllStages } = settingsFile();
  // The `cdk.json` of the current folder and the option `-c` override the settings in `groupsync.json`.
  const context: Readonly<Record<string, unknown>> = { stage, stages: ofStages, ...given };
  const settings = readSettings(context, ofAllStages);
  // Each run has its own folder, because two stages may be synthesised at the same time. The stack copies the bundles.
  const bundles = mkdtempSync(join(tmpdir(), 'groupsync-functions-'));
  new ConnectorStack(app, settings.prefix, {
    description: 'groupsync: keeps the groups of the Workforce Platform equal to the groups of the directory',
    env: environmentOf(settings),
    settings,
    code: await functionCode(bundles),
  });
  app.synth();
  rmSync(bundles, { recursive: true });
}

function settingsFile(): Readonly<Record<string, unknown>> {
  if (!existsSync(SETTINGS_FILE)) return {};
  try {
    // Editors on Windows begin a file with a byte order mark.
    return Settings.parse(JSON.parse(readFileSync(SETTINGS_FILE, 'utf8').replace(/^\ufeff/, '')));
  } catch (error) {
    throw new SettingsError(
      `${SETTINGS_FILE}: expected a JSON object of settings (${(error as Error).message})`,
    );
  }
}

main().catch((error: unknown) => {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
});
