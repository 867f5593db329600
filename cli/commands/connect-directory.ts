import type { DirectoryPreview } from '../../shared/contract/answers.ts';
import { parseJson } from '../../shared/contract/json.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { previewDirectory } from '../../shared/operate/connect/directory.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { DirectoryError } from '../../shared/sync/ports/directory.ts';
import type { Context } from '../context.ts';
import { Advised, EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { utf8Chunks } from '../text-file.ts';

export interface DirectoryOptions {
  readonly directory?: string;
  readonly administrator?: string;
  readonly key?: string;
  readonly directoryUrl?: string;
}

/** Tries a directory, shows what it would bring, and stores its key and the setting after a yes. */
export async function connectDirectory(
  context: Context,
  name: ConnectionName,
  options: DirectoryOptions,
): Promise<number> {
  const { out } = context;
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
  const connection = { ...plan.connection, settings: plan.next };
  const preview = await ports.directoryApplicants
    .present(setting, key)
    .then((directory) => previewDirectory(connection, directory, setting, ports))
    .catch((error: Error) => {
      if (!(error instanceof DirectoryError)) throw error;
      throw new Advised(
        `nothing was stored: ${error.message}; docs/read-google.md`,
        'groupsync directory status',
      );
    });
  const document = (stored: boolean) => ({ connection: name, stored, kind: setting.kind, ...preview });
  for (const line of previewLines(preview)) out.note(line);
  if (preview.others.length > 0) {
    out.answer(document(false), () => out.line(othersLine(preview.others)));
    return EXIT.failed;
  }
  if (!(await context.confirm(`Read this directory for the connection ${name}?`))) return EXIT.failed;
  await ports.directoryApplicants.store(name, key);
  await changeSettings(plan, ports);
  out.answer(document(true), () =>
    out.line(`${name} reads ${plural(preview.selected, 'group')} of the directory`),
  );
  out.note('next: groupsync directory read');
  return EXIT.done;
}

async function readKey({ io }: Context, file: string): Promise<unknown> {
  let text = '';
  for await (const chunk of utf8Chunks(io, file)) text += chunk;
  const json = parseJson(text);
  if (!json.ok) throw new UsageError(`--key ${file}: ${json.message}`);
  return json.value;
}

function previewLines({ listed, selected, sample }: DirectoryPreview): readonly string[] {
  return [
    `${plural(listed, 'group')} in the directory, ${selected} selected`,
    ...sample.map(
      ({ group, name, members, matched, problem }) =>
        `     ${name} (${group}): ${problem ?? `${plural(members, 'member')}, ${matched} with an employee`}`,
    ),
    ...(selected > sample.length ? [`     and ${selected - sample.length} more`] : []),
  ];
}

const NAMED = 5;

const othersLine = (others: readonly string[]): string =>
  `nothing was stored: ${plural(others.length, 'group')} of this connection came from another source, and the directory does not have ${others.length === 1 ? 'it' : 'them'}: ${others.slice(0, NAMED).join(', ')}. Only one source may manage a group`;
