import type { TakeoverPlan } from '../../shared/contract/answers/directory.ts';
import type { DirectoryOptions } from '../../shared/directory/operate/guides/guide.ts';
import {
  type GroupFile,
  GroupFileError,
  planTakeover,
  takeOverGroups,
} from '../../shared/directory/operate/takeover.ts';
import type { Source } from '../../shared/domain/source.ts';
import { shellWords } from '../../shared/operate/names.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import type { Context } from '../context.ts';
import { parseCsv } from '../csv.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { utf8Chunks } from '../text-file.ts';
import { chosenDirectory, withHint } from './directory-source.ts';

interface TakeoverOptions extends DirectoryOptions {
  readonly to: Source;
  readonly map?: string;
  readonly sameIds?: boolean;
  readonly dryRun?: boolean;
}

export async function takeover(context: Context, options: TakeoverOptions): Promise<number> {
  const { out } = context;
  const file = options.map === undefined ? undefined : await readGroupFile(context, options.map);
  const { connection, target, ports, kind } = await chosenTarget(context, options);
  const planned = planTakeover(connection, target, ports, file).catch(asUsage(options.map, target.source));
  const plan = await (kind === undefined ? planned : withHint(planned, kind));
  const { groups, unmapped } = plan;
  const unchanged = { connection: connection.name, observing: connection.observing, ...plan, busy: [] };
  if (groups.length === 0 || options.dryRun === true) {
    out.answer(unchanged, () => printPlan(context, plan));
    return unmapped.length > 0 ? EXIT.attention : EXIT.done;
  }
  // The plan goes to standard error, because with --json standard output contains the final report.
  for (const line of linesOf(plan)) out.note(line);
  const question = `Take over ${plural(groups.length, 'group')}? Nothing is written until \`groupsync resume\`.`;
  if (!(await context.confirm(question))) return EXIT.failed;
  const current = await ports.connections.current(connection.name);
  const report = await takeOverGroups(current ?? connection, plan, ports);
  out.answer(report, () => {
    out.line(
      `${plural(groups.length - report.busy.length, 'group')} taken over; the connection only observes`,
    );
    for (const group of report.busy)
      out.line(`${group}: not moved yet; groupsync tries again every minute: groupsync status`);
  });
  out.note(`next${nextOf(connection, options)}`);
  return report.busy.length + unmapped.length > 0 ? EXIT.attention : EXIT.done;
}

function nextOf({ name, settings }: Connection, { to, directory }: TakeoverOptions): string {
  if (to !== 'directory') return ': `groupsync plan`, then `groupsync resume`';
  const isConnected = settings.directory !== null && directory === undefined;
  return isConnected ? ': groupsync directory read' : `, with the same options: groupsync connect ${name}`;
}

async function chosenTarget(context: Context, options: TakeoverOptions) {
  const { to, sameIds = false } = options;
  if (sameIds && to !== 'events') {
    throw new UsageError(`--same-ids: expected --to events, got --to ${to}`);
  }
  if (to === 'directory') {
    const { connection, kind, directory, replaces, ports } = await chosenDirectory(context, options);
    return { connection, kind, ports, target: { source: to, directory, replaces } };
  }
  if (options.directory !== undefined) {
    throw new UsageError(`--directory: expected --to directory, got --to ${to}`);
  }
  const { ports, found } = await context.connected();
  return { connection: found, ports, target: { source: to, sameIds } };
}

const asUsage = (file: string | undefined, to: Source) => (error: Error) => {
  if (!(error instanceof GroupFileError)) throw error;
  throw new UsageError(`--map ${file}: ${error.message}; the ids: ${listOf(to)}`, { cause: error });
};

async function readGroupFile({ io }: Context, file: string): Promise<GroupFile> {
  const groups = new Map<string, string>();
  const refuse = (line: number, message: string) => new UsageError(`--map ${file}, line ${line}: ${message}`);
  for await (const { line, fields, problem } of parseCsv(utf8Chunks(io, file))) {
    const [from, to, ...more] = fields;
    if (problem !== undefined) throw refuse(line, problem);
    if (!from || !to || more.length > 0) throw refuse(line, 'expected two columns: group,target');
    if (from === 'group' && to === 'target') continue;
    if (groups.has(from)) throw refuse(line, `expected each group once, got ${from} again`);
    groups.set(from, to);
  }
  return groups;
}

const BY = {
  file: 'the file',
  id: 'the same id',
  externalId: 'external id',
  name: 'the same name',
  earlier: 'an earlier takeover',
} as const;

const NEW_SOURCE: Readonly<Record<Source, string>> = {
  directory: 'the directory',
  scim: 'the SCIM client',
  events: 'the source of events',
};

type Unmapped = TakeoverPlan['unmapped'][number];

const listOf = (to: Source) => (to === 'directory' ? 'groupsync directory groups' : 'groupsync groups');

const UNMAPPED: Readonly<Record<Unmapped['reason'], (one: Unmapped, to: Source) => string>> = {
  not_found: ({ group }, to) =>
    `${NEW_SOURCE[to]} has no such group; to leave it as it is: groupsync release ${shellWords(group)}`,
  not_unique: ({ group }, to) =>
    `${NEW_SOURCE[to]} has the name, but several groups have this name; put the line "${group},ID" into the file of --map, with the id from: ${listOf(to)}`,
  move_open: ({ target }) =>
    `its move to ${target} is not finished; groupsync finishes it within minutes: groupsync status`,
  has_platform_group: ({ group, target }) =>
    `${target} has another platform group; to keep that group: \`groupsync release ${shellWords(group)}\`; to keep that of ${group}: \`groupsync release ${shellWords(target ?? group)}\`, then \`groupsync resume\`, then this command again`,
};

const MISSING: Readonly<Record<Source, string>> = {
  directory: 'rename the group in the directory, or name its id with --map FILE',
  scim: 'assign the group to the SCIM application in the identity provider, or name its id with --map FILE',
  events:
    'send an event with the name of the group, or name its id with --map FILE; if the events use the ids of the directory: --same-ids',
};

function printPlan({ out }: Context, plan: TakeoverPlan): void {
  if (plan.groups.length === 0) out.line(`no group of another source was found in ${NEW_SOURCE[plan.to]}`);
  for (const line of linesOf(plan)) out.line(line);
}

function linesOf({ to, groups, unmapped }: TakeoverPlan): readonly string[] {
  const moved = groups.map(
    ({ group, name, target, by }) => `${name ?? group} (${group}) → ${target}: ${BY[by]}`,
  );
  const left = unmapped.map(
    (one) => `${one.name ?? one.group} (${one.group}): ${UNMAPPED[one.reason](one, to)}`,
  );
  const isMissing = unmapped.some(({ reason }) => reason === 'not_found');
  return [...moved, ...left, ...(isMissing ? [MISSING[to]] : [])];
}
