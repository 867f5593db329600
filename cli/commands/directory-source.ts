import { Option } from 'commander';
import { applySetting } from '../../shared/contract/change-setting.ts';
import { ENTRA_CLOUDS } from '../../shared/contract/entra-clouds.ts';
import { parseJson } from '../../shared/contract/json.ts';
import { DIRECTORY_KINDS, type DirectoryKind } from '../../shared/contract/settings.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { guidePageOf } from '../../shared/operate/directory/guides/index.ts';
import {
  directoryThroughFunction,
  type ShownDirectory,
} from '../../shared/operate/directory/through-function.ts';
import { planSettings } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { FunctionFailed } from '../../shared/sync/ports/deployment.ts';
import { DirectoryError } from '../../shared/sync/ports/directory.ts';
import type { Context } from '../context.ts';
import { readHidden } from '../hidden-text.ts';
import { HintedError, UsageError } from '../io.ts';
import { utf8Chunks } from '../text-file.ts';
import {
  type DirectoryOptions,
  describeDirectory,
  isSameDirectory,
  type SecretSource,
  withStoredOptions,
} from './directory-vendors.ts';

export const directoryOptions = (): readonly Option[] => [
  new Option('--directory <kind>', 'kind of a directory that the connection does not read yet').choices(
    DIRECTORY_KINDS,
  ),
  new Option('--administrator <address>', 'Google: the administrator whose permissions are used to read'),
  new Option(
    '--key <file>',
    "Google: key file of the directory's service account; Okta: file with the private key as JWK",
  ),
  new Option('--provider <name>', 'Google: workload identity provider, to sign in without a stored key'),
  new Option('--service-account <address>', 'Google: the service account to read as, with --provider'),
  new Option('--tenant <id>', 'Entra ID: the tenant'),
  new Option('--cloud <name>', 'Entra ID: the cloud of the tenant (default: public)').choices(ENTRA_CLOUDS),
  new Option('--client-id <id>', 'Entra ID, Okta: the application that reads the directory'),
  new Option(
    '--secret-stdin',
    'read the client secret (Entra ID) or the API token (Okta) from standard input',
  ),
  new Option('--key-arn <arn>', 'Okta: KMS key that signs in as the application; no private key is stored'),
  new Option('--federated', 'Entra ID: sign in with a federated credential, without a stored secret'),
  new Option(
    '--audience <name>',
    'Entra ID: audience of the federated credential (default: the one that Microsoft recommends for the cloud)',
  ),
  new Option(
    '--directory-url <url>',
    'Okta: address of the organisation; Google, Entra ID: a server with the same API, such as a simulator',
  ),
];

/** A directory that the options of a command describe. */
export type NamedDirectory = Awaited<ReturnType<typeof namedDirectory>>;

/**
 * Returns the directory that the options describe. If the connection already reads this directory, the setting
 * `corrects`, which has no option, keeps its stored value. @throws UsageError
 */
export async function namedDirectory(context: Context, name: ConnectionName, options: DirectoryOptions) {
  const { ports, found } = await context.connected(name);
  const stored = found.settings.directory;
  const kind = options.directory ?? 'google';
  const described = describeDirectory(kind, withStoredOptions(kind, options, stored));
  const changed = applySetting(found.settings, 'directory', described.setting).directory;
  if (changed === null) throw new UsageError('--directory: expected a kind of directory, got nothing');
  const isConnected = stored !== null && isSameDirectory(stored, changed);
  const corrects = isConnected ? stored.corrects : undefined;
  const setting = { ...changed, ...(corrects !== undefined && { corrects }) };
  const plan = await planSettings(name, [{ key: 'directory', value: setting }], ports);
  const key = described.secret && (await readSecret(context, described.secret));
  const connection: Connection = { ...plan.connection, settings: plan.next };
  const present = () => ports.directoryApplicants.present(setting, key);
  return {
    plan,
    setting,
    /** The secret in its stored form. Undefined if the deployed function signs in with its role and needs no secret. */
    key,
    connection,
    isConnected,
    present,
  };
}

interface ChosenDirectory {
  readonly connection: Connection;
  readonly kind: DirectoryKind;
  readonly directory: ShownDirectory;
  /** True if the connection reads a different directory now. */
  readonly replaces: boolean;
  readonly ports: ToolPorts;
}

/**
 * Returns the directory that the options describe. Without `--directory`, returns the directory that the connection
 * reads. The deployed function reads the directory, except if the options name a secret.
 */
export async function chosenDirectory(context: Context, options: DirectoryOptions): Promise<ChosenDirectory> {
  const { ports, found } = await context.connected();
  if (options.directory !== undefined) {
    const { connection, setting, key, present, isConnected } = await namedDirectory(
      context,
      found.name,
      options,
    );
    const { kind } = setting;
    const directory =
      key === undefined
        ? directoryThroughFunction({ ...ports, connection, setting })
        : await withHint(present(), kind);
    const replaces = found.settings.directory !== null && !isConnected;
    return { connection, kind, directory, replaces, ports };
  }
  const { directory: setting } = found.settings;
  if (setting === null) {
    throw new UsageError(`${found.name} reads no directory: expected --directory KIND and its options`);
  }
  const directory = directoryThroughFunction({ ...ports, connection: found });
  return { connection: found, kind: setting.kind, directory, replaces: false, ports };
}

/** Adds the next command and the guide page to an error that the directory or the function reported. */
export const withHint = <Answer>(asked: Promise<Answer>, kind: DirectoryKind): Promise<Answer> =>
  asked.catch((error: Error) => {
    const isExpected = error instanceof DirectoryError || error instanceof FunctionFailed;
    if (!isExpected) throw error;
    throw new HintedError(`nothing was changed: ${error.message}; ${guidePageOf(kind)}`, 'groupsync doctor');
  });

async function readSecret(context: Context, source: SecretSource): Promise<unknown> {
  if (source.kind === 'file') return readKey(context, source.file);
  const { field, title, isPiped } = source;
  return { [field]: await readHidden(context.io, { title, option: '--secret-stdin', isPiped }) };
}

async function readKey({ io }: Context, file: string): Promise<unknown> {
  let text = '';
  for await (const chunk of utf8Chunks(io, file)) text += chunk;
  const json = parseJson(text);
  if (!json.ok) throw new UsageError(`--key ${file}: ${json.message}`);
  return json.value;
}
