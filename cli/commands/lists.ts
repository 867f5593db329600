import type { Command } from 'commander';
import type { DriftRow } from '../../shared/contract/answers/reconcile.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { listDrift, listPending } from '../../shared/operate/lists.ts';
import { rehiresAmong } from '../../shared/operate/rehires.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { duration, shellWords } from '../output/words.ts';
import { age, examples } from './arguments.ts';

export function addLists(program: Command, act: Act): void {
  program
    .command('pending')
    .description('list pending members with their cause')
    .addHelpText(...examples('pending', 'pending --output csv'))
    .action(act(showPending));
  program
    .command('drift')
    .description('list external changes on the platform with their outcome')
    .option('--group <group>', 'id, name, or a prefix')
    .option('--since <age>', 'detected within the last 30m, 2h or 7d', age)
    .addHelpText(...examples('drift --since 2h', 'drift --group Engineering --json'))
    .action(act(showDrift));
}

const MOST_HINTS = 10;

async function showPending({ out, connection, connected, names }: Context): Promise<number> {
  const { ports, found } = await connected();
  const listed = await listPending(connection, ports);
  const rehires = await rehiresAmong(listed, found, ports);
  const pending = listed.map((row) => ({ ...row, rehire: rehires.get(row.member) ?? null }));
  await recordRead(connection, { what: 'pending' }, ports);
  const { group: groupName, member: memberName } = await names({
    groups: pending.map(({ group }) => group),
    members: pending.map(({ member }) => member),
  });
  out.answer({ pending }, () => {
    out.table(
      pending,
      [
        { title: 'group', of: ({ group }) => groupName(group), whole: 'id' },
        { title: 'member', of: ({ member }) => memberName(member), whole: 'id' },
        { title: 'cause', of: ({ cause }) => cause },
        {
          title: 'for',
          of: ({ sinceMs }) => duration(Date.now() - sinceMs),
          align: 'right',
          csv: { title: 'since', of: ({ sinceMs }) => new Date(sinceMs).toISOString() },
        },
      ],
      'no member is pending',
    );
    const [first] = pending;
    for (const [member, role] of [...rehires].slice(0, MOST_HINTS))
      out.note(
        `the ACTIVE employee ${role} also matches ${member}: groupsync rebind ${shellWords(member, role)}`,
      );
    if (first !== undefined) out.note(`next: groupsync explain ${shellWords(first.group, first.member)}`);
  });
  return EXIT.done;
}

async function showDrift(context: Context, { group, since }: { group?: string; since?: number }) {
  const { out, connection } = context;
  const { ports } = await context.connected();
  const ref = group === undefined ? undefined : await context.group(group);
  const from = since === undefined ? '' : new Date(ports.clock() - since).toISOString();
  const all = await listDrift(connection, ports);
  await recordRead(connection, { what: 'drift', group: ref?.group }, ports);
  const drift = all.filter((one) => (ref?.group ?? one.group) === one.group && one.detectedAt >= from);
  const groups = drift.map((one) => one.group);
  const { group: groupName, user } = await context.names({ groups, usersOf: groups });
  out.answer({ drift }, () => {
    out.table(
      drift.flatMap(rowsPerMember),
      [
        {
          title: 'seen',
          of: ({ detectedAt }) => detectedAt.slice(0, 16),
          whole: true,
          csv: { title: 'seen', of: ({ detectedAt }) => detectedAt },
        },
        { title: 'group', of: (row) => groupName(row.group), whole: 'id' },
        { title: 'kind', of: ({ kind }) => kind, whole: true },
        { title: 'by', of: ({ initiator, actor }) => actor?.name ?? actor?.role ?? initiator },
        { title: 'before', of: ({ was }) => was && user(was), whole: 'id' },
        { title: 'after', of: ({ is }) => is && user(is), whole: 'id' },
        { title: 'settled', of: ({ settledBy }) => settledBy ?? 'open' },
      ],
      'no external changes to managed groups',
    );
  });
  return EXIT.done;
}

/**
 * Returns one row for each member that another client added or removed, so that `explain` can be run for each. Another
 * change, such as a rename, has one row.
 */
function rowsPerMember(row: DriftRow) {
  const [was, is] = [row.before ?? [], row.after ?? []].map((side) => [side].flat());
  const rows = Array.from({ length: Math.max(1, was?.length ?? 0, is?.length ?? 0) }, (_, at) => at);
  return rows.map((at) => ({ ...row, was: was?.[at] ?? null, is: is?.[at] ?? null }));
}
