import { dirname } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { LOCAL_KINDS, type LocalKind } from './directory/open-directory.ts';
import { DEFAULT_LOCAL_FILE, onceFile } from './local-file.ts';
import { UsageError } from './usage.ts';

/** Options of `npm start`. Durations are in seconds. */
export interface StartOptions {
  readonly once: boolean;
  readonly timeout: number;
  /** The files of events to publish. If undefined, the events of the bundled example are published. */
  readonly events: readonly string[] | undefined;
  readonly world: string | undefined;
  readonly empty: boolean;
  /** If true, the example company has no problems and no history of a day. */
  readonly plain: boolean;
  /** The vendor of the directory to start. If set, groupsync reads this directory, and no events are published. */
  readonly directory: LocalKind | undefined;
  readonly setting: readonly (readonly [key: string, value: unknown])[];
  readonly awsPort: number;
  readonly sqsPort: number;
  readonly platformPort: number;
  readonly peopleEvery: number;
  readonly reconcileEvery: number;
  readonly sweepEvery: number;
  readonly pumpEvery: number;
  readonly data: string | undefined;
  readonly json: boolean;
  readonly console: boolean;
  /** If true, the console has the sign-in of a deployed stage, with an OIDC provider on this machine. */
  readonly consoleLogin: boolean;
  readonly localFile: string;
}

const EXAMPLES = `
Examples:
  npm start                                       run the example company, with a day of problems, until Ctrl-C
  npm start -- --plain                            run the example company without problems
  npm start -- --once                             run the example company until no change waits
  npm start -- --empty --data .groupsync/data     start without events, and keep the state for the next start
  npm start -- --events mine.jsonl --world mine.json --once
  npm start -- --directory google                 read the example company from a directory through its API
  npm start -- --directory entra --once           read the example company once from Entra ID
  npm start -- --console-login                    serve the console with the sign-in of a deployed stage
  npm start -- --setting guard=null --setting mode=report
  npm start --silent -- --once --json | jq .groups
`;

/**
 * Reads the command line.
 * @returns the options, or the help text if requested
 * @throws UsageError with a one-line reason
 */
export function parseOptions(args: readonly string[]): StartOptions | { readonly help: string } {
  let help = '';
  const command = commandLine().exitOverride();
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
    writeErr: () => undefined,
  });
  try {
    command.parse([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { help };
    throw new UsageError(`${oneLine(error.message)}; --help lists the options`);
  }
  const options = command.opts<Partial<Given> & Omit<StartOptions, keyof Given>>();
  if (options.empty === true && options.events !== undefined) {
    throw new UsageError(
      '--empty and --events exclude each other: --empty publishes nothing, and --events publishes a file',
    );
  }
  const hasOwnFile = options.once === true && command.getOptionValueSource('localFile') === 'default';
  const ownFile = hasOwnFile ? { localFile: onceFile(dirname(DEFAULT_LOCAL_FILE)) } : {};
  return { ...NOT_GIVEN, ...options, ...ownFile };
}

/** Whether the run plays a day of the example company, with problems that an operator meets. */
export const playsDay = ({ once, json, plain, empty, events, world, directory }: StartOptions): boolean =>
  !(once || json || plain || empty) && (events ?? world ?? directory) === undefined;

/** The values of options that are not on the command line, because commander's result lacks these options. */
const NOT_GIVEN = {
  once: false,
  events: undefined,
  world: undefined,
  empty: false,
  plain: false,
  directory: undefined,
  setting: [],
  data: undefined,
  json: false,
  console: true,
  consoleLogin: false,
} as const satisfies Partial<StartOptions>;
type Given = Pick<StartOptions, keyof typeof NOT_GIVEN>;

const oneLine = (message: string) =>
  message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .trim();

export function commandLine(): Command {
  return new Command('npm start --')
    .description(
      'Runs groupsync on this machine: queues, table, platform and the deployed handlers, in one process.',
    )
    .option('--once', 'exit with code 0 when no change waits, or with code 1 after --timeout')
    .option('--timeout <seconds>', 'how long --once waits', seconds, 120)
    .option('--events <file>', 'publish this JSONL file with one event per line (repeatable)', collect)
    .option('--world <file>', 'world file of the platform, as JSON')
    .option('--empty', 'publish nothing')
    .option('--plain', 'publish the example company without the problems of the last day')
    .addOption(
      new Option(
        '--directory <kind>',
        'start a directory with the groups of the events, and read the directory instead of publishing events',
      ).choices(LOCAL_KINDS),
    )
    .option(
      '--setting <key=value>',
      'a connection setting with its value as JSON (repeatable)',
      collectSetting,
    )
    .addOption(portOption('--aws-port <n>', 'port of DynamoDB, Secrets Manager, Lambda and Scheduler'))
    .addOption(portOption('--sqs-port <n>', 'port of SQS'))
    .addOption(portOption('--platform-port <n>', 'port of the platform simulator'))
    .option('--people-every <seconds>', 'how often people are read', seconds, 60)
    .option('--reconcile-every <seconds>', 'how often the activity feed is read', seconds, 60)
    .option('--sweep-every <seconds>', 'how often every group is compared with the platform', seconds, 300)
    .option('--pump-every <seconds>', 'how often waiting groups are retried', seconds, 2)
    .option('--data <dir>', 'keep tables and platform in this folder')
    .option('--json', 'print one JSON document on stdout and nothing else')
    .option('--no-console', 'do not start groupsync console')
    .option('--console-login', 'serve the console with sign-in, and an OIDC provider on this machine')
    .addOption(
      new Option('--local-file <path>', 'file for the addresses of this run').default(
        DEFAULT_LOCAL_FILE,
        `${DEFAULT_LOCAL_FILE}, or a separate file with --once`,
      ),
    )
    .helpOption('-h, --help', 'show help')
    .allowExcessArguments(false)
    .addHelpText('after', EXAMPLES);
}

const portOption = (flags: string, description: string) =>
  new Option(flags, description).argParser(port).default(0, 'a free one');

const collect = (file: string, before: readonly string[] = []) => [...before, file];

/** A value that is not valid JSON is used as text. So users can write `mode=report` without quotation marks. */
function collectSetting(text: string, before: StartOptions['setting'] = []): StartOptions['setting'] {
  const split = text.indexOf('=');
  if (split < 1) throw new InvalidArgumentError('expected KEY=VALUE');
  const [key, value] = [text.slice(0, split), text.slice(split + 1)];
  try {
    return [...before, [key, JSON.parse(value)]];
  } catch {
    return [...before, [key, value]];
  }
}

const MAX_SECONDS = 86_400;

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value <= MAX_SECONDS) return value;
  throw new InvalidArgumentError(`expected a number of seconds above 0 and at most ${MAX_SECONDS}`);
}

function port(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new InvalidArgumentError('expected a port from 0 to 65535');
}
