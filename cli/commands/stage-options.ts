import type { Command } from 'commander';
import type { Context } from '../context.ts';
import type { BuiltStack, Cdk } from '../deploy/ports.ts';
import { type GlobalOptions, UsageError } from '../io.ts';

interface StageOptions {
  readonly stage?: string;
  readonly set: readonly string[];
}

export const STAGE = ['--stage <name>', 'stage of the settings (default: production)'] as const;
export const SET = '--set <key=value>';
export const SETTINGS_HELP =
  '\nSettings are in groupsync.json in the current folder; docs/settings.md lists them.';

export interface OpenStage {
  readonly cdk: Cdk;
  readonly built: BuiltStack;
  /** The account and the region, as text for the questions to the operator. */
  readonly where: string;
}

export async function withStage(
  { io, out, localFile }: Context,
  given: { readonly command: Command; readonly fixed?: Readonly<Record<string, string>> },
  work: (stage: OpenStage) => Promise<number>,
): Promise<number> {
  if (localFile !== undefined)
    throw new UsageError('--local: the local stack is not deployed; use npm start');
  const options = given.command.optsWithGlobals<GlobalOptions & StageOptions>();
  const settings = { ...settingsOf(options), ...given.fixed };
  const { region, profile } = options;
  const cdk = await io.openCdk({ cwd: io.cwd, env: io.env, region, profile, note: out.note });
  try {
    const built = await cdk.synth(settings);
    const where = `account ${built.account}, region ${built.region}`;
    out.note(`stack ${built.stack}, ${where}`);
    return await work({ cdk, built, where });
  } finally {
    cdk.close();
  }
}

/** Returns the settings of the command line. They override the settings file. */
function settingsOf({ stage, set, prefix, region }: GlobalOptions & StageOptions): Record<string, string> {
  const pairs = set.map((text) => {
    const split = text.indexOf('=');
    // The CDK would read a text that begins with a hyphen as a CDK option, such as --plugin.
    if (split < 1 || text.startsWith('-')) throw new UsageError(`--set: expected KEY=VALUE, got "${text}"`);
    return [text.slice(0, split), text.slice(split + 1)] as const;
  });
  return {
    ...Object.fromEntries(pairs),
    ...(stage === undefined ? {} : { stage }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(region === undefined ? {} : { region }),
  };
}
