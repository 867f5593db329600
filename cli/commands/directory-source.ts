import { Option } from 'commander';
import { parseJson } from '../../shared/contract/json.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { planSettings } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { type Directory, DirectoryError } from '../../shared/sync/ports/directory.ts';
import type { Context } from '../context.ts';
import { Advised, UsageError } from '../io.ts';
import { utf8Chunks } from '../text-file.ts';

/** How a directory is named that a connection does not read yet. */
export interface DirectoryOptions {
  readonly directory?: string;
  readonly administrator?: string;
  readonly key?: string;
  readonly directoryUrl?: string;
}

export const directoryOptions = (): readonly Option[] => [
  new Option('--directory <kind>', 'a directory that the connection does not read yet').choices(['google']),
  new Option('--administrator <address>', 'in whose name the directory is read'),
  new Option('--key <file>', "key file of the directory's service account"),
  new Option('--directory-url <url>', 'another server with the same API, such as a simulator'),
];

/** The directory that the options name. @throws UsageError */
export async function presentedDirectory(context: Context, name: ConnectionName, options: DirectoryOptions) {
  const { ports } = await context.connected(name);
  const { administrator, key: file, directoryUrl: baseUrl, directory: kind } = options;
  if (administrator === undefined || file === undefined) {
    throw new UsageError('--directory: expected --administrator ADDRESS and --key FILE too');
  }
  const value = { kind, administrator, ...(baseUrl !== undefined && { baseUrl }) };
  const plan = await planSettings(name, [{ key: 'directory', value }], ports);
  const setting = plan.next.directory;
  if (setting === null) throw new UsageError('--directory: expected a kind of directory, got null');
  const key = await readKey(context, file);
  const connection: Connection = { ...plan.connection, settings: plan.next };
  return { plan, setting, key, connection, present: () => ports.directoryApplicants.present(setting, key) };
}

/** The directory that the options name, or else the one that the connection reads. */
export async function chosenDirectory(
  context: Context,
  options: DirectoryOptions,
): Promise<{ readonly connection: Connection; readonly directory: Directory; readonly ports: ToolPorts }> {
  const { ports, found } = await context.connected();
  if (options.directory !== undefined) {
    const { connection, present } = await presentedDirectory(context, found.name, options);
    return { connection, directory: await advised(present()), ports };
  }
  if (found.settings.directory === null) {
    throw new UsageError(
      `${found.name} reads no directory: expected --directory KIND, --administrator ADDRESS and --key FILE`,
    );
  }
  return { connection: found, directory: await advised(ports.directoryApplicants.stored(found)), ports };
}

/** A directory that cannot be read is no fault of the command. */
export const advised = <Answer>(asked: Promise<Answer>): Promise<Answer> =>
  asked.catch((error: Error) => {
    if (!(error instanceof DirectoryError)) throw error;
    throw new Advised(
      `nothing was changed: ${error.message}; docs/read-google.md`,
      'groupsync directory status',
    );
  });

async function readKey({ io }: Context, file: string): Promise<unknown> {
  let text = '';
  for await (const chunk of utf8Chunks(io, file)) text += chunk;
  const json = parseJson(text);
  if (!json.ok) throw new UsageError(`--key ${file}: ${json.message}`);
  return json.value;
}
