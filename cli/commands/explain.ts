import type { Command } from 'commander';
import type { ExplainedEvent, Explanation, PersonReport } from '../../shared/contract/answers/explain.ts';
import type { PersonAt } from '../../shared/contract/answers/groups.ts';
import { formatMoment } from '../../shared/contract/moment.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { type Names, withId } from '../../shared/operate/names.ts';
import { whatIsKnown } from '../../shared/operate/past.ts';
import { reportPerson, reportPersonAt } from '../../shared/operate/person.ts';
import { formatWaiting } from '../../shared/operate/status.ts';
import { formatBlock } from '../../shared/operate/who.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import type { Column } from '../output/table.ts';
import { plural, shellWord, shellWords } from '../output/words.ts';
import { examples, moment } from './arguments.ts';
import { formatCause, lineOf, named } from './log.ts';

export function addExplain(program: Command, act: Act): void {
  program
    .command('explain')
    .description('explain why a person is, or is not, in a group: from the event to the platform version')
    .argument('<group>', 'id, name, or a prefix')
    .argument('<member>', "the member's id in the directory, address or name")
    .addHelpText(...examples('explain 00g1 00u7', 'explain Engineering ann@acme.test'))
    .action(
      act(async (context, group: string, member: string) => {
        const [{ ports, found: connection }, ref] = await Promise.all([
          context.connected(),
          context.group(group),
        ]);
        const explanation = await explainMember(ref, member, { connection, ports });
        const read = { what: 'person', group: ref.group, id: explanation.member } as const;
        await recordRead(connection.name, read, ports);
        const names = await context.names({ groups: [ref.group], members: [explanation.member] });
        context.out.answer(explanation, () => print(explanation, context, names));
        for (const line of hintsOf(explanation)) context.out.note(line);
        return EXIT.done;
      }),
    );
}

export function addPerson(program: Command, act: Act): void {
  program
    .command('person')
    .description('show one member: groups with reasons, binding, latest events and their actors')
    .argument('<member>', "the member's id in the directory, address or name")
    .option('--at <time>', 'the groups at an earlier time: an ISO time, "yesterday 14:00" or "2h ago"')
    .option('--thorough', 'with --at: search also groups in which only another client put the person')
    .addHelpText(...examples('person 00u7', 'person ann@acme.test --json', 'person 00u7 --at "2h ago"'))
    .action(
      act(async (context, member: string, { at, thorough = false }: { at?: string; thorough?: boolean }) => {
        if (at !== undefined) return showPersonAt(context, member, at, thorough);
        if (thorough) throw new UsageError('expected --at with --thorough');
        const { ports, found } = await context.connected();
        const report = await reportPerson(member, found, ports);
        await recordRead(found.name, { what: 'person', id: report.member }, ports);
        context.out.answer(report, (shown) => printPerson(shown, context));
        return EXIT.done;
      }),
    );
}

async function showPersonAt(context: Context, text: string, at: string, isThorough: boolean) {
  const { out } = context;
  const { ports, found } = await context.connected();
  const atMs = moment(at, ports.clock());
  const report = await reportPersonAt(text, { atMs, isThorough }, found, ports);
  await recordRead(found.name, { what: 'person', id: report.member }, ports);
  out.answer(report, ({ member, name, groups }) => {
    out.table(groups, GROUPS_AT, 'in no group');
    const of = (one: string) => groups.filter(({ state }) => state === one).length;
    const who = withId(name ?? undefined, member);
    out.line(`${who}, ${formatMoment(atMs)}: in ${plural(of('in'), 'group')}, ${of('unknown')} not known`);
  });
  if (!isThorough)
    out.note(
      `groups in which only another client put the person are not searched: groupsync person --thorough --at ${shellWord(at)} ${shellWords(report.member)}`,
    );
  if (report.knownUntil !== null) out.note(whatIsKnown({ knownSince: null, knownUntil: report.knownUntil }));
  const isKnown = report.knownUntil === null && report.groups.every(({ state }) => state !== 'unknown');
  return isKnown ? EXIT.done : EXIT.attention;
}

const GROUPS_AT: readonly Column<PersonAt['groups'][number]>[] = [
  { title: 'group', of: ({ group, name }) => withId(name ?? undefined, group), whole: 'id' },
  { title: 'as', of: ({ user }) => user },
  { title: 'in the group', of: ({ state }) => (state === 'unknown' ? 'not known' : state) },
  {
    title: 'because',
    of: ({ changedBetween, knownSince }) => {
      if (changedBetween !== null)
        return `changed between ${changedBetween.map((at) => formatMoment(Date.parse(at))).join(' and ')}`;
      return knownSince && `known since ${formatMoment(Date.parse(knownSince))}`;
    },
  },
];

function printPerson(report: PersonReport, { out }: Context): void {
  const { member, members, name, bound, person, groups, moreGroups, blocked, actions } = report;
  out.line(withId(name ?? undefined, member));
  out.line(bound === null ? 'bound to no employee' : `bound to ${bound}, ${person?.state ?? 'not read yet'}`);
  if (members.length > 1) out.line(`members of this employee: ${members.join(', ')}`);
  if (blocked !== null) out.line(out.paint.red(formatBlock({ ...blocked, atMs: Date.parse(blocked.at) })));
  if (groups.length === 0) out.line('no event added this member to a group');
  for (const group of groups) printMembership(group, out, members.length > 1);
  if (moreGroups > 0) out.line(`… and ${moreGroups} more groups; use explain for one of them`);
  for (const action of actions) out.line(lineOf(action, out));
}

function printMembership(
  membership: PersonReport['groups'][number],
  out: Context['out'],
  hasOthers: boolean,
): void {
  const { group, name, member, wanted, present, outcome, because, event, write } = membership;
  const where = `${wanted ? 'wanted' : 'not wanted'}, ${present ? 'on the platform' : 'not on the platform'}`;
  out.line(`${named(group, name)}  ${where}${hasOthers ? `, as member ${member}` : ''}`);
  out.line(`  ${outcome}: ${because}`);
  if (event !== null) out.line(out.paint.dim(`  event ${formatEvent(event)}`));
  if (write !== null) out.line(out.paint.dim(`  write ${write.action} at ${write.at}; ${write.cause}`));
}

/** Shortens the nine fractional digits of a stamp to milliseconds. */
export const toMs = (time: string | null) => time?.replace(/(\.\d{3})\d*Z$/, '$1Z');

const formatEvent = ({ id, source, time, actor }: ExplainedEvent): string =>
  `${id} of ${source}, ${toMs(time)}${actor === null ? '' : `, by ${named(actor.id, actor.name)}`}`;

function hintsOf({ decision: { outcome }, member, match }: Explanation): readonly string[] {
  if (outcome === 'pending:ambiguous') {
    const roles = [match.bound ?? [], ...match.rules.map(({ found }) => found.map(({ id }) => id))].flat();
    const shownRoles = [...new Set(roles)].slice(0, 3);
    return shownRoles.map((role) => `next: groupsync rebind ${shellWords(member, role)}`);
  }
  if (match.rehire !== null) return [`next: groupsync rebind ${shellWords(member, match.rehire)}`];
  const where = {
    'pending:unknown': 'in the directory or on the platform, or change the setting match',
    'pending:inactive': 'on the platform, or change the setting includeStates',
  };
  const place = where[outcome as keyof typeof where];
  if (place === undefined) return [];
  return [
    `fix the value ${place}; groupsync reads it within the hour, or immediately with the next command`,
    'next: groupsync people refresh',
  ];
}

function print(explanation: Explanation, { out }: Context, names: Names): void {
  const { events, match, decision, waiting, write } = explanation;
  const { paint } = out;
  const verdict = explanation.present ? paint.green('is in the group') : paint.red('is not in the group');
  out.line(`${names.member(explanation.member)} ${verdict} ${names.group(explanation.group)}`);
  out.line(`because ${explanation.because}`);
  out.line();
  for (const event of events) {
    out.line(`event     ${event.register}: ${event.summary}`);
    out.line(paint.dim(`          ${formatEvent(event)}`));
  }
  for (const { rule, value, found } of match.rules) {
    const holders = found.map(({ id, state }) => `${id} (${state})`).join(', ') || 'no employee';
    out.line(
      `match     ${rule}: ${value === null ? 'the member has no such attribute' : `"${value}" matches ${holders}`}`,
    );
  }
  if (match.person !== null) {
    const { id, state } = match.person;
    out.line(`person    ${id}, ${state}; in groups as ${match.user ?? 'a user whose id is hidden'}`);
  }
  out.line(`decision  ${decision.outcome}`);
  if (waiting !== null) out.line(formatWaiting(waiting));
  if (write === null) {
    out.line('write     none for this member');
    return;
  }
  out.line(`write     ${write.action} at ${write.at}: ${write.reason}`);
  out.line(
    paint.dim(
      `          version ${write.versionBefore ?? '–'} → ${write.versionAfter ?? '–'}, ${write.outcome}; ${formatCause(write)}`,
    ),
  );
}
