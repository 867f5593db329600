import type { Command } from 'commander';
import type { HeldMember } from '../../shared/contract/answers/holds.ts';
import { listHolds } from '../../shared/operate/holds.ts';
import { holdRow } from '../../shared/operate/lists.ts';
import { withId } from '../../shared/operate/names.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import type { Column } from '../output/table.ts';
import { percent, plural, shellWords } from '../output/words.ts';
import { collected, examples, WATCH, watched } from './arguments.ts';
import {
  decideHold,
  type FormatMember,
  formatDecision,
  formatHold,
  type HoldOptions,
  readHold,
} from './hold-decision.ts';

export function addHolds(program: Command, act: Act): void {
  const holds = program
    .command('holds')
    .description('removals that the guard holds until an operator decides')
    .addHelpText(
      ...examples(
        'holds',
        'holds show Engineering',
        'holds approve 00g1 --reason "team dissolved, ticket 4711"',
      ),
    );
  holds
    .command('list', { isDefault: true })
    .description('list holds: removals, remaining members, expiry')
    .option(...WATCH)
    .addHelpText(...examples('holds', 'holds list --watch'))
    .action(act(watched(list)));
  holds
    .command('show')
    .description('list the members that would be removed, with the event for each')
    .argument('<group>', 'id or name')
    .addHelpText(...examples('holds show Engineering', 'holds show 00g1 --output csv'))
    .action(act(show));
  const decisions = [
    { name: 'approve', what: 'approve the removals of a hold' },
    { name: 'reject', what: 'reject the removals: the members stay' },
  ] as const;
  for (const { name, what } of decisions) {
    holds
      .command(name)
      .description(what)
      .argument('<group>', 'id or name')
      .option('--reason <text>', 'reason for the audit; prompted for at a terminal')
      .option('--digest <hex>', 'decide only if the hold still has this digest; a prefix is enough')
      .option(
        '--member <member>',
        `${name} only this removal: id, address or name; repeatable; other removals stay held`,
        collected,
        [],
      )
      .option('--again', 'with --yes: replace an earlier decision')
      .addHelpText(
        ...examples(
          `holds ${name} Engineering --reason "team dissolved"`,
          `holds ${name} 00g1 --reason "ticket 4711" --yes`,
        ),
      )
      .action(
        act((context, group: string, decision: HoldOptions) => decideHold(context, group, decision, name)),
      );
  }
}

async function list({ out, connection, connected, names }: Context, _options: object, _command: Command) {
  const holds = (await listHolds(connection, (await connected()).ports)).map(holdRow);
  const named = await names({ groups: holds.map(({ group }) => group) });
  out.answer({ holds }, () => {
    out.table(
      holds,
      [
        { title: 'group', of: ({ group }) => named.group(group), whole: 'id' },
        { title: 'removes', of: ({ removes }) => removes, align: 'right' },
        { title: 'keeps', of: ({ keeps }) => keeps, align: 'right' },
        {
          title: 'share',
          of: ({ share }) => percent(share),
          align: 'right',
          csv: { title: 'share', of: ({ share }) => share },
        },
        { title: 'decision', of: ({ decision }) => decision },
        {
          title: 'expires',
          of: ({ expiresAt }) => expiresAt.slice(0, 10),
          csv: { title: 'expires', of: ({ expiresAt }) => expiresAt },
        },
      ],
      'no holds',
    );
    const groups = [...new Set(holds.map(({ group }) => group))];
    for (const group of groups.slice(0, 3)) out.note(`next: groupsync holds show ${shellWords(group)}`);
  });
  return EXIT.done;
}

async function show(context: Context, group: string): Promise<number> {
  const { out } = context;
  const { state, hold, guard, others, members, formatMember } = await readHold(context, group);
  const id = state.ref.group;
  const name = state.registers.name?.value ?? null;
  out.answer({ ...holdRow({ group: id, hold }), name, members }, () => {
    for (const line of formatHold(withId(name ?? undefined, id), hold, guard)) out.line(line);
    for (const { removes, digest, decision } of others)
      out.line(
        `${plural(removes, 'other removal')}, digest ${digest.slice(0, 12)}: ${formatDecision(decision)}`,
      );
    for (const line of causingEvents(members)) out.line(line);
    out.table(members, out.csv ? CSV_COLUMNS : memberColumns(formatMember));
  });
  for (const verb of ['approve', 'reject'])
    out.note(`next: groupsync holds ${verb} --digest ${hold.digest.slice(0, 12)} ${shellWords(id)}`);
  return EXIT.done;
}

const memberColumns = (formatMember: FormatMember): readonly Column<HeldMember>[] => [
  { title: 'member', of: formatMember, whole: 'id' },
  { title: 'because', of: ({ because }) => because },
  { title: 'event', of: ({ event }) => event?.time?.slice(0, 19) ?? null },
];

const CSV_COLUMNS: readonly Column<HeldMember>[] = [
  { title: 'member id', of: ({ member }) => member ?? '' },
  { title: 'name', of: ({ name }) => name ?? '' },
  { title: 'email', of: ({ email }) => email ?? '' },
  { title: 'platform user', of: ({ user }) => user },
  { title: 'because', of: ({ because }) => because },
  { title: 'event', of: ({ event }) => event?.id ?? '' },
  { title: 'source', of: ({ event }) => event?.source ?? '' },
  { title: 'time', of: ({ event }) => event?.time ?? '' },
];

const SHOWN_EVENTS = 5;

function causingEvents(members: readonly HeldMember[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { because, event } of members) {
    const by = event === null ? '' : `: event ${event.id} of ${event.source}, ${event.time?.slice(0, 19)}Z`;
    const line = `${because}${by}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN_EVENTS)
    .map(([line, count]) => `${plural(count, 'removal')}: ${line}`);
}
