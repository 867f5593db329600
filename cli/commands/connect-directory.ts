import * as z from 'zod';
import { DirectoryPreview, DirectoryStepRow, nullable } from '../../shared/contract/answers.ts';
import { parseJson } from '../../shared/contract/json.ts';
import type { DirectorySetting } from '../../shared/contract/settings.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { previewDirectory } from '../../shared/operate/connect/directory.ts';
import { fixOfStep } from '../../shared/operate/doctor/directory.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { DirectoryError } from '../../shared/sync/ports/directory.ts';
import type { Context } from '../context.ts';
import { Advised, EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { utf8Chunks } from '../text-file.ts';

export interface DirectoryOptions {
  readonly directory?: string;
  readonly administrator?: string;
  readonly key?: string;
  readonly provider?: string;
  readonly serviceAccount?: string;
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
  const plan = await planSettings(name, [{ key: 'directory', value: settingOf(options) }], ports);
  const setting = plan.next.directory;
  if (setting === null) throw new UsageError('--directory: expected a kind of directory, got null');
  const key = options.key === undefined ? undefined : await readKey(context, options.key);
  const connection = { ...plan.connection, settings: plan.next };
  const preview =
    key === undefined
      ? await previewByFunction(connection, setting, ports)
      : await previewByKey(connection, { setting, key }, ports);
  const document = (stored: boolean) => ({ connection: name, stored, kind: setting.kind, ...preview });
  for (const line of previewLines(preview)) out.note(line);
  if (preview.others.length > 0) {
    out.answer(document(false), () => out.line(othersLine(preview.others)));
    return EXIT.failed;
  }
  if (!(await context.confirm(`Read this directory for the connection ${name}?`))) return EXIT.failed;
  if (key === undefined) await ports.directoryApplicants.remove(name);
  else await ports.directoryApplicants.store(name, key);
  await changeSettings(plan, ports);
  out.answer(document(true), () =>
    out.line(`${name} reads ${plural(preview.selected, 'group')} of the directory`),
  );
  out.note('next: groupsync directory read');
  return EXIT.done;
}

const EXPECTED =
  '--directory: expected --administrator ADDRESS, and --key FILE or --provider NAME with --service-account ADDRESS';

/** The setting `directory`, as the options have it. */
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

interface Applied {
  readonly setting: DirectorySetting;
  readonly key: unknown;
}

const previewByKey = (
  connection: Connection,
  { setting, key }: Applied,
  ports: ToolPorts,
): Promise<DirectoryPreview> =>
  ports.directoryApplicants
    .present(setting, key)
    .then((directory) => previewDirectory(connection, directory, setting, ports))
    .catch((error: Error) => {
      if (!(error instanceof DirectoryError)) throw error;
      throw new Advised(
        `nothing was stored: ${error.message}; docs/read-google.md`,
        'groupsync directory status',
      );
    });

const Tried = z.object({
  reports: z.tuple([z.object({ steps: z.array(DirectoryStepRow), preview: nullable(DirectoryPreview) })]),
});

/** Only the role of the deployed function can sign in without a key, so the function tries the directory. */
async function previewByFunction(
  { name }: Connection,
  setting: DirectorySetting,
  { functions }: ToolPorts,
): Promise<DirectoryPreview> {
  const answer = await functions
    .run('directory', { connection: name, preview: setting })
    .catch((cause: Error) => {
      throw new Advised(`nothing was stored: ${cause.message}; docs/read-google.md`, 'groupsync doctor');
    });
  const [{ steps, preview }] = Tried.parse(answer).reports;
  if (preview !== null) return preview;
  const failed = steps.find(({ problem }) => problem !== null);
  const fix = failed === undefined ? '' : `\n${fixOfStep(failed, setting, name)}`;
  throw new Advised(
    `nothing was stored: ${failed?.problem ?? 'no step was tried'}${fix}`,
    'groupsync doctor',
  );
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
  `nothing was stored: ${plural(others.length, 'group')} of this connection came from another source, and the directory does not have ${others.length === 1 ? 'it' : 'them'}: ${others.slice(0, NAMED).join(', ')}. Two sources would name one group twice`;
