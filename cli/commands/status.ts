import { type Command, Option } from 'commander';
import type { GroupReport, GroupStatus } from '../../shared/contract/answers/groups.ts';
import type { StatusReport } from '../../shared/contract/answers/status.ts';
import { GROUP_STATES } from '../../shared/contract/names.ts';
import { type Names, NotFound, shortened, withId } from '../../shared/operate/names.ts';
import { type GroupPause, readPause } from '../../shared/operate/pausing.ts';
import { reportGroups } from '../../shared/operate/report.ts';
import { readableConnection } from '../../shared/operate/settings.ts';
import {
  fixForGate,
  formatFailingCalls,
  formatGate,
  formatKeptMembers,
  formatSource,
  formatWaiting,
  needsAttention,
  readGroupStatus,
  readStatus,
} from '../../shared/operate/status.ts';
import { formatTask } from '../../shared/operate/tasks.ts';
import { formatBlock } from '../../shared/operate/who.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { ageColumn, type Column } from '../output/table.ts';
import { duration, plural, shellWords } from '../output/words.ts';
import { examples, WATCH, watched } from './arguments.ts';

export function addStatus(program: Command, act: Act): void {
  program
    .command('status')
    .description('show the state of the connection or of one group: counts, backlog, gate, queues')
    .argument('[group]', 'id or name of a group, or a prefix')
    .option(...WATCH)
    .addHelpText(...examples('status', 'status Engineering --json'))
    .action(
      act(
        watched((context, group: string | undefined, _options: object, _command: Command) =>
          group === undefined ? showStatus(context) : showGroup(context, group),
        ),
      ),
    );
  program
    .command('groups')
    .description('list groups with their state')
    .addOption(new Option('--state <state>', 'only groups in this state').choices(GROUP_STATES))
    .option(...WATCH)
    .addHelpText(...examples('groups --watch', 'groups --state failed'))
    .action(act(watched(showGroups)));
}

async function showStatus(context: Context): Promise<number> {
  const ports = await context.ports();
  const status = await readStatus(await readableConnection(context.connection, ports), ports);
  context.out.answer(status, (shown) => printStatus(shown, context));
  const steps = nextSteps(status);
  for (const step of steps) context.out.note(`next: ${step}`);
  return steps.length === 0 ? EXIT.done : EXIT.attention;
}

function printStatus(status: StatusReport, { out }: Context): void {
  const { gate, groups, queues, observing, mode } = status;
  const { paint } = out;
  const counts = Object.entries(groups).map(([state, count]) => `${count} ${state}`);
  const number = (count: number | null) => (count === null ? 'missing' : String(count));
  out.line(`connection  ${status.connection}`);
  out.line(`gate        ${(gate.state === 'open' ? paint.green : paint.red)(formatGate(gate))}`);
  for (const failing of status.failingCalls)
    out.line(`calls       ${paint.red(formatFailingCalls(failing))}`);
  if (observing) out.line(`observing   ${paint.red('yes: plans only, and writes nothing until resumed')}`);
  if (mode !== 'authoritative') out.line(`mode        ${mode}`);
  out.line(`credential  ${formatCredential(status.credential)}`);
  out.line(`groups      ${counts.join(', ') || 'none yet'}`);
  out.line(`pending     ${plural(status.pendingMembers, 'membership')}`);
  if (status.excludedMembers > 0)
    out.line(`excluded    ${plural(status.excludedMembers, 'membership')} (people.exclude)`);
  out.line(`holds       ${status.holds}`);
  for (const line of requestLines(status)) out.line(line);
  const oldest =
    status.oldestUnappliedMs === null ? '' : `, the oldest for ${duration(status.oldestUnappliedMs)}`;
  out.line(`backlog     ${plural(status.backlog, 'group')}${oldest}`);
  const tasks = status.tasks.map((one) => ['task', one.task, formatTask(one), one.next !== null] as const);
  const sources = status.sources.map(
    (one) => ['source', one.source, formatSource(one, duration), needsAttention(one)] as const,
  );
  for (const [title, name, text, isFault] of [...tasks, ...sources])
    out.line(`${title.padEnd(10)}  ${(isFault ? paint.red : String)(`${name.padEnd(10)}  ${text}`)}`);
  out.line(
    `queues      events ${number(queues.events)} (${number(queues.eventsDlq)} dead-lettered), apply ${number(queues.apply)} (${number(queues.applyDlq)} dead-lettered)`,
  );
}

const requestLines = ({ settingRequests, blocked, keptMembers, openMoves }: StatusReport) => [
  ...(settingRequests > 0
    ? [`requests    ${settingRequests} for settings, ends of blocks or SCIM tokens`]
    : []),
  ...blocked.map(({ members, roles, users, ...block }) => {
    const ids = [...members, ...roles, ...users].join(', ');
    return `blocked     ${ids}: ${formatBlock({ ...block, atMs: Date.parse(block.at) })}`;
  }),
  ...(openMoves === null ? [] : [`moves       ${openMoves}`]),
  ...(keptMembers.total > 0 ? [`members     ${formatKeptMembers(keptMembers)}`] : []),
];

function nextSteps(status: StatusReport) {
  const { connection, gate, failingCalls, observing, credential, holds, groups, queues } = status;
  const { settingRequests } = status;
  const hasFault =
    credential.failure !== null || failingCalls.length > 0 || status.sources.some(needsAttention);
  const dead = (queues.eventsDlq ?? 0) + (queues.applyDlq ?? 0);
  const steps: readonly (readonly [isDue: boolean, step: string])[] = [
    [gate.state !== 'open', fixForGate(gate, connection) ?? ''],
    [gate.state !== 'backoff' && hasFault, 'groupsync doctor --faults'],
    [gate.state !== 'paused' && observing, 'groupsync resume'],
    [holds > 0, 'groupsync holds'],
    [(groups['unrestated'] ?? 0) > 0, 'groupsync groups --state unrestated'],
    [settingRequests > 0, `groupsync connections confirm ${connection}`],
    [(groups['failed'] ?? 0) > 0, 'groupsync groups --state failed'],
    [dead > 0, 'groupsync dlq list'],
    ...status.tasks.map(({ next }) => [gate.state === 'open' && next !== null, next ?? ''] as const),
  ];
  return steps.flatMap(([isDue, step]) => (isDue ? [step] : []));
}

function formatCredential({ goodAgeMs, failure }: StatusReport['credential']): string {
  const good = goodAgeMs === null ? 'not checked yet; checked once a day' : `good ${duration(goodAgeMs)} ago`;
  return failure === null ? good : `${good}; then: ${shortened(failure.message)}`;
}

async function showGroup(context: Context, text: string): Promise<number> {
  const ref = await context.group(text);
  const ports = await context.ports();
  const status = await readGroupStatus(ref, ports);
  if (status === undefined) throw new NotFound(`there is no group ${text}`);
  const members = status.pending.map(({ id }) => id);
  const names = await context.names({ members });
  const pause = status.state === 'paused' ? await readPause(ref, ports) : undefined;
  context.out.answer(status, () => printGroup(status, names, pause, context));
  const [first] = status.pending;
  if (status.hold !== null) context.out.note(`next: groupsync holds show ${shellWords(ref.group)}`);
  else if (first !== undefined)
    context.out.note(`next: groupsync explain ${shellWords(ref.group, first.id)}`);
  const isUndecided = status.hold?.decision === 'waiting';
  return isUndecided || status.state === 'failed' ? EXIT.attention : EXIT.done;
}

export function formatPause({ sinceMs, entry }: GroupPause): string {
  const since = `since ${new Date(sinceMs).toISOString()}`;
  if (entry === undefined) return since;
  return `${since} by ${withId(entry.actor.name, entry.actor.id)}: ${entry.reason ?? 'no reason given'}`;
}

const stopLines = ({ moving }: GroupStatus, pause: GroupPause | undefined): readonly string[] => [
  ...(moving === null ? [] : [`moving      ${moving}`]),
  ...(pause === undefined ? [] : [`paused      ${formatPause(pause)}`]),
];

function printGroup(group: GroupStatus, names: Names, pause: GroupPause | undefined, { out }: Context): void {
  const { hold, link, users, wanted, applied, pending, excluded } = group;
  out.line(`group       ${withId(group.name ?? '(unnamed)', group.id)}`);
  out.line(`state       ${[group.state, group.released].filter((one) => one !== null).join(': ')}`);
  for (const line of stopLines(group, pause)) out.line(line);
  out.line(
    `members     ${wanted} wanted, ${applied} applied, ${pending.length} pending, ${excluded} excluded`,
  );
  const open = link?.openWrite == null ? '' : `, a ${link.openWrite} of unknown outcome`;
  const has = link === null ? 'no group yet' : `${link.platformId}, version ${link.version ?? '–'}${open}`;
  out.line(`platform    ${has}${link === null ? '' : `; ${plural(users.length, 'user')}`}`);
  if (hold !== null)
    out.line(`hold        ${hold.removes} of ${users.length} members would be removed: ${hold.decision}`);
  out.line(`last write  ${group.lastWriteAt ?? 'none'}`);
  if (group.dirtySince !== null) out.line(`waiting     since ${group.dirtySince}`);
  if (group.waiting !== null) out.line(formatWaiting(group.waiting));
  if (group.lastError !== null) out.line(`last error  ${group.lastError.code}: ${group.lastError.message}`);
  if (group.pending.length === 0) return;
  out.line();
  out.table(group.pending, [
    { title: 'pending member', of: ({ id }) => names.member(id), whole: 'id' },
    { title: 'cause', of: ({ cause }) => cause },
    ageColumn('for', ({ sinceMs }) => sinceMs),
  ]);
}

async function showGroups(context: Context, { state }: { state?: string }, _command: Command) {
  const { ports, found } = await context.connected();
  const groups = (await reportGroups(found.name, ports))
    .filter((group) => state === undefined || group.state === state)
    .sort((a, b) => BY_NAME.compare(a.name ?? '', b.name ?? ''));
  const columns = groups.some(({ waiting }) => waiting !== null)
    ? [...GROUP_COLUMNS, WAITING_COLUMN]
    : GROUP_COLUMNS;
  context.out.answer({ groups }, () => context.out.table(groups, columns, 'no groups'));
  return EXIT.done;
}

/** Sorts names in natural order, the same on every machine. */
const BY_NAME = new Intl.Collator('en', { numeric: true });

const GROUP_COLUMNS: readonly Column<GroupReport>[] = [
  { title: 'group', of: ({ id, name }) => withId(name ?? undefined, id), whole: 'id' },
  { title: 'wanted', of: ({ wanted }) => wanted, align: 'right' },
  { title: 'applied', of: ({ applied }) => applied, align: 'right' },
  { title: 'on platform', of: ({ users }) => users.length, align: 'right' },
  { title: 'pending', of: ({ pending }) => pending.length, align: 'right' },
  { title: 'state', of: ({ state }) => state },
];

const WAITING_COLUMN: Column<GroupReport> = {
  title: 'waits',
  of: ({ waiting }) => (waiting === null ? null : formatWaiting(waiting)),
  csv: {
    title: 'waits until',
    of: ({ waiting }) => waiting?.until ?? '',
  },
};
