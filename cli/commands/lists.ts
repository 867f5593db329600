import type { Command } from 'commander';
import { listDrift, listPending } from '../../shared/operate/lists.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { duration, shellWord } from '../output/words.ts';
import { examples } from './arguments.ts';

export function addLists(program: Command, act: Act): void {
  program
    .command('pending')
    .description('members who cannot be written yet, and why')
    .addHelpText(...examples('pending', 'pending --output csv'))
    .action(act(showPending));
  program
    .command('drift')
    .description('what others changed on the platform, and what became of it')
    .addHelpText(...examples('drift', 'drift --json'))
    .action(act(showDrift));
}

async function showPending({ out, connection, ports, names }: Context): Promise<number> {
  const pending = await listPending(connection, await ports());
  const { group: sayGroup, member: sayMember } = await names({
    groups: pending.map(({ group }) => group),
    members: pending.map(({ member }) => member),
  });
  out.answer({ pending }, () => {
    const nowMs = Date.now();
    out.table(
      pending,
      [
        { title: 'group', of: ({ group }) => sayGroup(group), whole: 'id' },
        { title: 'member', of: ({ member }) => sayMember(member), whole: 'id' },
        { title: 'cause', of: ({ cause }) => cause },
        { title: 'for', of: ({ sinceMs }) => duration(nowMs - sinceMs), align: 'right' },
      ],
      'nobody is pending',
    );
    const [first] = pending;
    if (first !== undefined)
      out.note(`next: groupsync explain ${shellWord(first.group)} ${shellWord(first.member)}`);
  });
  return EXIT.done;
}

async function showDrift({ out, connection, ports, names }: Context): Promise<number> {
  const drift = await listDrift(connection, await ports());
  const groups = drift.map(({ group }) => group);
  const { group: sayGroup, user } = await names({ groups, usersOf: groups });
  out.answer({ drift }, () => {
    const shown = (side: string | readonly string[] | null) =>
      side === null || side.length === 0 ? '–' : typeof side === 'string' ? side : side.map(user).join(' ');
    out.table(
      drift,
      [
        { title: 'group', of: ({ group }) => sayGroup(group), whole: 'id' },
        { title: 'kind', of: ({ kind }) => kind },
        { title: 'by', of: ({ initiator, actor }) => actor?.name ?? actor?.role ?? initiator },
        { title: 'before', of: ({ before }) => shown(before) },
        { title: 'after', of: ({ after }) => shown(after) },
        { title: 'seen', of: ({ detectedAt }) => detectedAt.slice(0, 16) },
        { title: 'settled', of: ({ settledBy }) => settledBy ?? 'open' },
      ],
      'nobody else has changed our groups',
    );
  });
  return EXIT.done;
}
