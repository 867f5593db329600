import { Option } from 'commander';
import { parseJson } from '../../shared/contract/json.ts';
import type { DirectorySetting } from '../../shared/contract/settings.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import {
  directoryThroughFunction,
  type ShownDirectory,
} from '../../shared/operate/directory/through-function.ts';
import { planSettings, type SettingsPlan } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { FunctionFailed } from '../../shared/sync/ports/deployment.ts';
import { type Directory, DirectoryError } from '../../shared/sync/ports/directory.ts';
import type { Context } from '../context.ts';
import { HintedError, UsageError } from '../io.ts';
import { utf8Chunks } from '../text-file.ts';

/** Options that describe a directory which the connection does not read yet. */
export interface DirectoryOptions {
  readonly directory?: string;
  readonly administrator?: string;
  readonly key?: string;
  readonly provider?: string;
  readonly serviceAccount?: string;
  readonly directoryUrl?: string;
}

export const directoryOptions = (): readonly Option[] => [
  new Option('--directory <kind>', 'a directory that the connection does not read yet').choices(['google']),
  new Option('--administrator <address>', 'in whose name the directory is read'),
  new Option('--key <file>', "key file of the directory's service account"),
  new Option('--provider <name>', 'workload identity provider, to sign in without a stored key'),
  new Option('--service-account <address>', 'the service account that reads, with --provider'),
  new Option('--directory-url <url>', 'another server with the same API, such as a simulator'),
];

const OPTIONS = '--administrator ADDRESS, and --key FILE or --provider NAME with --service-account ADDRESS';
const EXPECTED = `--directory: expected ${OPTIONS}`;

/** Converts the options to the setting `directory`. @throws UsageError */
function settingOf(options: DirectoryOptions): object {
  const { directory: kind, administrator, key, provider, serviceAccount, directoryUrl: baseUrl } = options;
  const isFederated = provider !== undefined && serviceAccount !== undefined;
  const isHalf = (provider === undefined) !== (serviceAccount === undefined);
  const hasOneCredential = isFederated !== (key !== undefined) && !isHalf;
  if (administrator === undefined || !hasOneCredential) throw new UsageError(EXPECTED);
  return {
    kind,
    administrator,
    ...(isFederated && { federation: { provider, serviceAccount } }),
    ...(baseUrl !== undefined && { baseUrl }),
  };
}

/** A directory that the connection does not read yet. */
export interface NamedDirectory {
  readonly plan: SettingsPlan;
  readonly setting: DirectorySetting;
  /** Content of the key file; undefined if the deployed function signs in as its role. */
  readonly key: unknown;
  /** The connection with this directory in its settings. */
  readonly connection: Connection;
  readonly present: () => Promise<Directory>;
}

/** Returns the directory that the options describe. @throws UsageError */
export async function namedDirectory(
  context: Context,
  name: ConnectionName,
  options: DirectoryOptions,
): Promise<NamedDirectory> {
  const { ports } = await context.connected(name);
  const plan = await planSettings(name, [{ key: 'directory', value: settingOf(options) }], ports);
  const setting = plan.next.directory;
  if (setting === null) throw new UsageError('--directory: expected a kind of directory, got null');
  const key = options.key === undefined ? undefined : await readKey(context, options.key);
  const connection: Connection = { ...plan.connection, settings: plan.next };
  return { plan, setting, key, connection, present: () => ports.directoryApplicants.present(setting, key) };
}

interface ChosenDirectory {
  readonly connection: Connection;
  readonly directory: ShownDirectory;
  readonly ports: ToolPorts;
}

/**
 * Returns the directory that the options describe; without options, the one that the connection reads. Without a key,
 * the deployed function reads the directory.
 */
export async function chosenDirectory(context: Context, options: DirectoryOptions): Promise<ChosenDirectory> {
  const { ports, found } = await context.connected();
  if (options.directory !== undefined) {
    const { connection, setting, key, present } = await namedDirectory(context, found.name, options);
    const directory =
      key === undefined
        ? directoryThroughFunction({ ...ports, connection, setting })
        : await withHint(present());
    return { connection, directory, ports };
  }
  const { directory: setting } = found.settings;
  if (setting === null) {
    throw new UsageError(`${found.name} reads no directory: expected --directory KIND, ${OPTIONS}`);
  }
  const directory =
    setting.federation === undefined
      ? await withHint(ports.directoryApplicants.stored(found))
      : directoryThroughFunction({ ...ports, connection: found });
  return { connection: found, directory, ports };
}

/** Turns an error of the directory into a message with the next command, because the command itself was correct. */
export const withHint = <Answer>(asked: Promise<Answer>): Promise<Answer> =>
  asked.catch((error: Error) => {
    const isExpected = error instanceof DirectoryError || error instanceof FunctionFailed;
    if (!isExpected) throw error;
    throw new HintedError(`nothing was changed: ${error.message}; docs/read-google.md`, 'groupsync doctor');
  });

async function readKey({ io }: Context, file: string): Promise<unknown> {
  let text = '';
  for await (const chunk of utf8Chunks(io, file)) text += chunk;
  const json = parseJson(text);
  if (!json.ok) throw new UsageError(`--key ${file}: ${json.message}`);
  return json.value;
}
