import type { Command } from 'commander';
import type { BlockedGroup } from '../../shared/contract/answers/block.ts';
import type { Block } from '../../shared/domain/block.ts';
import { blockPerson, groupsOfBlocked, unblockPerson } from '../../shared/operate/block.ts';
import { withId } from '../../shared/operate/names.ts';
import { blockRow, formatBlock } from '../../shared/operate/who.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { canAsk } from '../output/ask.ts';
import type { Column } from '../output/table.ts';
import { examples } from './arguments.ts';
import { follow, NO_WAIT, noteObstacle, type WaitOption } from './follow.ts';

const PERSON = ['<person>', "a member's id, address or name, or an employee's id or address"] as const;

export function addBlock(program: Command, act: Act): void {
  program
    .command('block')
    .description('take a person out of all groups now, and keep the person out until unblock')
    .argument(...PERSON)
    .option('--reason <text>', 'reason, for the audit and for other operators')
    .option(...NO_WAIT)
    .addHelpText(
      ...examples('block ann@acme.test --reason "account taken over"', 'block 00u7 --reason left --yes'),
    )
    .action(act(block));
  program
    .command('unblock')
    .description('end a block: the person returns to the groups in which the directory has the person')
    .argument(...PERSON)
    .option('--reason <text>', 'reason, for the audit')
    .addHelpText(...examples('unblock ann@acme.test', 'unblock 00u7 --reason "account is safe" --yes'))
    .action(act(unblock));
}

interface Reason {
  readonly reason?: string;
}

async function block(context: Context, text: string, { reason: given, wait }: Reason & WaitOption) {
  const { out, connection } = context;
  const reason = await context.reason(given);
  const ports = await context.ports();
  const question = `Block ${text}? All groups of ${connection} lose this person until unblock.`;
  if (!(await context.confirm(question))) return EXIT.failed;
  const { outcome, block } = await blockPerson(connection, { text, reason }, ports);
  const { found } = await context.connected();
  let groups = await groupsOfBlocked(block, found, ports);
  const dirty = groups.filter((one) => one.outcome === 'removing');
  if (wait && dirty.length > 0) {
    const refs = dirty.map(({ ref }) => ref);
    await follow(context, refs);
    groups = await groupsOfBlocked(block, found, ports);
  }
  const rows = groups.map(({ ref: _, ...row }) => row);
  out.answer({ outcome, block: blockRow(block), groups: rows }, () => {
    const done = outcome === 'blocked' ? 'blocked' : `nothing changed: already ${formatBlock(block)};`;
    out.line(`${done} ${idsOf(block)}`);
    out.table(rows, COLUMNS, 'no group contains this person');
  });
  const isWaiting = groups.some((one) => one.outcome === 'waiting');
  if (isWaiting) await noteObstacle(context);
  return isWaiting || (wait && groups.some((one) => one.outcome === 'removing')) ? EXIT.attention : EXIT.done;
}

const COLUMNS: readonly Column<BlockedGroup>[] = [
  { title: 'group', of: ({ group, name }) => withId(name ?? undefined, group), whole: 'id' },
  { title: 'person', of: ({ outcome }) => outcome },
  { title: 'because', of: ({ because }) => because },
];

const idsOf = ({ members, roles, users }: Block): string => [...members, ...roles, ...users].join(', ');

async function unblock(context: Context, text: string, { reason }: Reason): Promise<number> {
  const { out, io, connection } = context;
  const given = reason === undefined && canAsk(io) ? await context.reason(reason) : reason;
  if (!(await context.confirm(`Unblock ${text}? Groups may get this person again.`))) return EXIT.failed;
  const request = { text, reason: given };
  const { outcome, block } = await unblockPerson(connection, request, await context.ports());
  out.answer({ outcome, block: block === undefined ? null : blockRow(block) }, () => {
    if (block === undefined) out.line('nothing changed: this person is not blocked');
    else if (outcome === 'unblocked') out.line(`unblocked ${idsOf(block)}`);
    else
      out.line(
        `still blocked: four eyes is on, and ${block.unblock?.by} has asked to unblock ${idsOf(block)}; another person must confirm it`,
      );
  });
  if (outcome === 'requested')
    out.note(`next, by another person: groupsync connections confirm ${connection}`);
  return EXIT.done;
}
