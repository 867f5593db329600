import type { Command } from 'commander';
import { listDrift, listPending } from '../../shared/operate/lists.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { duration } from '../output/words.ts';

export function addLists(program: Command, act: Act): void {
  program
    .command('pending')
    .description('members who cannot be written yet, and why')
    .addHelpText('after', '\nExample:\n  groupsync pending')
    .action(act(showPending));
  program
    .command('drift')
    .description('what others changed on the platform, and what became of it')
    .addHelpText('after', '\nExample:\n  groupsync drift --json')
    .action(act(showDrift));
}

async function showPending({ out, connection, ports }: Context): Promise<number> {
  const pending = await listPending(connection, await ports());
  out.answer({ pending }, () => {
    const nowMs = Date.now();
    out.table(
      pending,
      [
        { title: 'group', of: ({ group }) => group },
        { title: 'member', of: ({ member }) => member, whole: true },
        { title: 'cause', of: ({ cause }) => cause },
        { title: 'for', of: ({ sinceMs }) => duration(nowMs - sinceMs), align: 'right' },
      ],
      'nobody is pending',
    );
    if (pending.length > 0) out.note('next: groupsync explain GROUP MEMBER');
  });
  return EXIT.done;
}

async function showDrift({ out, connection, ports }: Context): Promise<number> {
  const drift = await listDrift(connection, await ports());
  out.answer({ drift }, () => {
    const shown = (side: string | readonly string[] | null) =>
      side === null ? '–' : typeof side === 'string' ? side : side.join(' ') || '–';
    out.table(
      drift,
      [
        { title: 'group', of: ({ group }) => group },
        { title: 'kind', of: ({ kind }) => kind },
        { title: 'by', of: ({ initiator }) => initiator },
        { title: 'before', of: ({ before }) => shown(before) },
        { title: 'after', of: ({ after }) => shown(after) },
        { title: 'settled', of: ({ settledBy }) => settledBy ?? 'open' },
      ],
      'nobody else has changed our groups',
    );
  });
  return EXIT.done;
}
