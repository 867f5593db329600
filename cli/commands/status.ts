import type { Command } from 'commander';
import {
  type GroupReport,
  GroupStateName,
  type GroupStatus,
  type StatusReport,
} from '../../shared/contract/answers.ts';
import { NotFound } from '../../shared/operate/find-group.ts';
import { reportGroups } from '../../shared/operate/report.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import { readGroupStatus, readStatus } from '../../shared/operate/status.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import type { Column } from '../output/table.ts';
import { duration, plural } from '../output/words.ts';

const STATES: readonly string[] = GroupStateName.options;

export function addStatus(program: Command, act: Act): void {
  program
    .command('status')
    .description('how the connection stands, or one group: counts, backlog, gate, queues')
    .argument('[group]', 'id or exact name of a group')
    .addHelpText('after', '\nExamples:\n  groupsync status\n  groupsync status 00g1 --json')
    .action(
      act((context, group: string | undefined) =>
        group === undefined ? showStatus(context) : showGroup(context, group),
      ),
    );
  program
    .command('groups')
    .description('every group with its state')
    .option('--state <state>', `only groups in this state: ${STATES.join(', ')}`)
    .addHelpText('after', '\nExamples:\n  groupsync groups\n  groupsync groups --state failed')
    .action(act(showGroups));
}

async function showStatus(context: Context): Promise<number> {
  const ports = await context.ports();
  await requireConnection(context.connection, ports);
  const status = await readStatus(context.connection, ports);
  context.out.answer(status, () => printStatus(status, context));
  return EXIT.done;
}

function printStatus(status: StatusReport, { out }: Context): void {
  const { gate, groups, queues, feed } = status;
  const { paint } = out;
  const open = gate.state === 'open';
  const counts = Object.entries(groups).map(([state, count]) => `${count} ${state}`);
  const number = (count: number | null) => (count === null ? 'missing' : String(count));
  out.line(`connection  ${status.connection}`);
  out.line(
    `gate        ${open ? paint.green('open') : paint.red(`${gate.state}: ${shortened(gate.reason ?? '')}`)}`,
  );
  out.line(`credential  ${sayCredential(status.credential)}`);
  out.line(`groups      ${counts.join(', ') || 'none yet'}`);
  out.line(`pending     ${plural(status.pendingMembers, 'membership')}`);
  out.line(`holds       ${status.holds}`);
  const oldest =
    status.oldestUnappliedMs === null ? '' : `, the oldest for ${duration(status.oldestUnappliedMs)}`;
  out.line(`backlog     ${plural(status.backlog, 'group')}${oldest}`);
  out.line(
    `feed        ${feed.cursorAgeMs === null ? 'not read yet' : `read ${duration(feed.cursorAgeMs)} ago`}`,
  );
  out.line(
    `queues      events ${number(queues.events)} (dead ${number(queues.eventsDlq)}), apply ${number(queues.apply)} (dead ${number(queues.applyDlq)})`,
  );
  const dead = (queues.eventsDlq ?? 0) + (queues.applyDlq ?? 0);
  if (dead > 0) out.note(`next: groupsync dlq list`);
  if (status.holds > 0) out.note('next: groupsync holds');
  if (!open || status.credential.failure !== null) out.note('next: groupsync doctor');
}

/** Of the daily check, and of `connect`. */
function sayCredential({ goodAgeMs, failure }: StatusReport['credential']): string {
  const good = goodAgeMs === null ? 'not checked yet; it is once a day' : `good ${duration(goodAgeMs)} ago`;
  return failure === null ? good : `${good}; then: ${shortened(failure.message)}`;
}

const REASON_SHOWN = 120;

/** A platform's answer may be quoted in it; `doctor` and --json show all of it. */
const shortened = (text: string): string =>
  text.length <= REASON_SHOWN ? text : `${text.slice(0, REASON_SHOWN - 1)}…`;

async function showGroup(context: Context, text: string): Promise<number> {
  const ref = await context.group(text);
  const status = await readGroupStatus(ref, await context.ports());
  if (status === undefined) throw new NotFound(`there is no group ${text}`);
  context.out.answer(status, () => printGroup(status, context));
  return EXIT.done;
}

function printGroup(group: GroupStatus, { out, io }: Context): void {
  const nowMs = Date.now();
  out.line(`group       ${group.name ?? '(unnamed)'} (${group.id})`);
  out.line(`state       ${group.state}`);
  out.line(`members     ${group.wanted} wanted, ${group.applied} applied, ${group.pending.length} pending`);
  const open = group.link?.openWrite == null ? '' : `, a ${group.link.openWrite} of unknown outcome`;
  out.line(
    `platform    ${group.link === null ? 'no group yet' : `${group.link.platformId}, version ${group.link.version ?? '–'}${open}`}`,
  );
  out.line(`last write  ${group.lastWriteAt ?? 'none'}`);
  if (group.dirtySince !== null) out.line(`waiting     since ${group.dirtySince}`);
  if (group.lastError !== null) out.line(`last error  ${group.lastError.code}: ${group.lastError.message}`);
  if (group.hold !== null) out.line(`hold        ${group.hold.removes} removals, ${group.hold.decision}`);
  if (group.pending.length > 0) {
    out.line();
    out.table(group.pending, [
      { title: 'pending member', of: ({ id }) => id, whole: true },
      { title: 'cause', of: ({ cause }) => cause },
      { title: 'for', of: ({ sinceMs }) => duration(nowMs - sinceMs), align: 'right' },
    ]);
    if (io.stdout.isTTY === true) out.note(`next: groupsync explain ${group.id} MEMBER`);
  }
}

async function showGroups(context: Context, { state }: { state?: string }): Promise<number> {
  if (state !== undefined && !STATES.includes(state)) {
    throw new UsageError(`--state: expected one of ${STATES.join(', ')}, got "${state}"`);
  }
  const ports = await context.ports();
  await requireConnection(context.connection, ports);
  const all = await reportGroups(context.connection, ports);
  const groups = all.filter((group) => state === undefined || group.state === state);
  context.out.answer({ groups }, () => context.out.table(groups, GROUP_COLUMNS, 'no groups'));
  return EXIT.done;
}

const GROUP_COLUMNS: readonly Column<GroupReport>[] = [
  { title: 'group', of: ({ id }) => id, whole: true },
  { title: 'name', of: ({ name }) => name },
  { title: 'wanted', of: ({ wanted }) => wanted, align: 'right' },
  { title: 'applied', of: ({ applied }) => applied, align: 'right' },
  { title: 'pending', of: ({ pending }) => pending.length, align: 'right' },
  { title: 'state', of: ({ state }) => state },
];
