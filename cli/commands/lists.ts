import type { Command } from 'commander';
import { journalOf } from '../../shared/operate/journal.ts';
import { listAudit, listDrift, listPending } from '../../shared/operate/lists.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { duration } from '../output/words.ts';
import { wholeNumber } from './arguments.ts';

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
  program
    .command('audit')
    .description('what was written, when, why, and by which event or person')
    .argument('[group]', 'id or exact name; without it: what people did to the connection')
    .option('--limit <n>', 'entries at most', wholeNumber, 50)
    .addHelpText('after', '\nExamples:\n  groupsync audit 00g1\n  groupsync audit --limit 10')
    .action(act(showAudit));
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

async function showAudit(
  context: Context,
  group: string | undefined,
  { limit }: { limit: number },
): Promise<number> {
  const { out, connection } = context;
  const ref = group === undefined ? journalOf(connection) : await context.group(group);
  const entries = await listAudit(ref, limit, await context.ports());
  out.answer({ entries }, () => {
    if (entries.length === 0) out.line('nothing yet');
    for (const { at, action, changes, changeCount, versionAfter, cause, outcome } of entries) {
      const version = versionAfter === null ? '' : `, version ${versionAfter}`;
      out.line(`${at}  ${out.paint.bold(action)}  ${outcome}${version}`);
      out.line(out.paint.dim(`  ${cause}`));
      for (const { kind, before, after, reason } of changes.slice(0, 10)) {
        out.line(`  ${kind} ${fromTo(before, after)}: ${reason}`);
      }
      if (changeCount > 10) out.line(`  … and ${changeCount - 10} more changes`);
    }
  });
  return EXIT.done;
}

const fromTo = (before: string | null, after: string | null): string =>
  before !== null && after !== null
    ? `${oneLine(before)} → ${oneLine(after)}`
    : oneLine(after ?? before ?? '');

/** A letter that was edited is kept whole; here its beginning is enough. */
const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};
