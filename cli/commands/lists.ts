import type { Command } from 'commander';
import { recordRead } from '../../shared/operate/journal.ts';
import { listPending } from '../../shared/operate/lists.ts';
import { rehiresAmong } from '../../shared/operate/rehires.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { ageColumn } from '../output/table.ts';
import { shellWords } from '../output/words.ts';
import { examples } from './arguments.ts';

export function addLists(program: Command, act: Act): void {
  program
    .command('pending')
    .description('list pending members with their cause')
    .addHelpText(...examples('pending', 'pending --output csv'))
    .action(act(showPending));
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
        ageColumn('for', ({ sinceMs }) => sinceMs, 'since'),
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
