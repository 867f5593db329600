import type { Command } from 'commander';
import type { Hold, HoldDecision } from '../../shared/domain/hold.ts';
import type { GroupRef } from '../../shared/domain/ids.ts';
import { NotFound } from '../../shared/operate/find-group.ts';
import { approveHold, type HoldOutcome, listHolds, rejectHold } from '../../shared/operate/holds.ts';
import { holdRow } from '../../shared/operate/lists.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { percent, plural } from '../output/words.ts';

interface Decision {
  readonly reason: string;
  readonly digest?: string;
  readonly again?: boolean;
}

export function addHolds(program: Command, act: Act): void {
  const holds = program
    .command('holds')
    .description('removals that the guard stopped, waiting for a person')
    .addHelpText(
      'after',
      '\nExamples:\n  groupsync holds\n  groupsync holds approve 00g1 --reason "team dissolved, ticket 4711"',
    );
  holds
    .command('list', { isDefault: true })
    .description('every hold: what would go, what stays, until when')
    .action(act(list));
  const decisions = [
    { name: 'approve', what: 'let the removals of a hold happen, once' },
    { name: 'reject', what: 'keep the removals from happening until nobody wants them' },
  ] as const;
  for (const { name, what } of decisions) {
    holds
      .command(name)
      .description(what)
      .argument('<group>', 'id or exact name')
      .requiredOption('--reason <text>', 'why; kept in the audit')
      .option('--digest <hex>', 'decide only if the hold is still over this set; its beginning is enough')
      .option('--again', 'with --yes: also where somebody has decided already')
      .option('-y, --yes', 'do not ask')
      .action(
        act((context, group: string, decision: Decision) => decideHold(context, group, decision, name)),
      );
  }
}

async function list({ out, connection, ports }: Context): Promise<number> {
  const holds = (await listHolds(connection, await ports())).map(holdRow);
  out.answer({ holds }, () => {
    out.table(
      holds,
      [
        { title: 'group', of: ({ group }) => group, whole: true },
        { title: 'removes', of: ({ removes }) => removes, align: 'right' },
        { title: 'keeps', of: ({ keeps }) => keeps, align: 'right' },
        { title: 'share', of: ({ share }) => percent(share), align: 'right' },
        { title: 'decision', of: ({ decision }) => decision },
        { title: 'expires', of: ({ expiresAt }) => expiresAt.slice(0, 16) },
        { title: 'digest', of: ({ digest }) => digest.slice(0, 12), whole: true },
      ],
      'nothing is held',
    );
    if (holds.length > 0)
      out.note('next: groupsync plan GROUP shows who; groupsync holds approve|reject GROUP --reason …');
  });
  return EXIT.done;
}

async function decideHold(
  context: Context,
  group: string,
  decision: Decision,
  name: 'approve' | 'reject',
): Promise<number> {
  const { out } = context;
  const ports = await context.ports();
  const ref = await context.group(group);
  const hold = (await ports.groups.read(ref))?.hold;
  if (hold === undefined)
    throw new NotFound(`nothing of ${ref.group} is held; groupsync holds lists what is`);
  // A whole digest may be of a set that others have joined since.
  const digest = decision.digest?.length === hold.digest.length ? decision.digest : hold.digest;
  if (!digest.startsWith(decision.digest ?? '')) {
    throw new NotFound(
      `the hold is over another set by now (${hold.digest.slice(0, 12)}); look again: groupsync plan ${ref.group}`,
    );
  }
  const decided = sayDecision(hold.decision);
  if (decided !== undefined && context.yes && decision.again !== true) {
    throw new Error(
      `the hold of ${ref.group} is decided: ${decided}. To decide it anew: leave --yes out and be asked, or add --again`,
    );
  }
  await describe(context, ref, hold);
  if (digest !== hold.digest)
    out.note('only the set of the given digest is decided: others have joined it since');
  const question = name === 'approve' ? `Remove ${plural(hold.removes, 'member')}?` : 'Keep them in?';
  if (!(await context.confirm(question))) return EXIT.failed;
  const word = { reason: decision.reason, digest, decision: hold.decision };
  const outcome = await (name === 'approve' ? approveHold : rejectHold)(ref, word, ports);
  out.answer({ group: ref.group, outcome: outcome.kind, digest }, () => out.line(sayOutcome(outcome, name)));
  return outcome.kind === 'decided' ? EXIT.done : EXIT.attention;
}

const SHOWN = 20;

async function describe({ out, ports }: Context, ref: GroupRef, hold: Hold): Promise<void> {
  const users = [...((await (await ports()).groups.readHeld(ref, hold)) ?? [])].sort();
  out.note(
    `${ref.group}: ${hold.removes} to go, ${hold.keeps} stay (${percent(hold.share)}, rule ${hold.rule})`,
  );
  const decided = sayDecision(hold.decision);
  if (decided !== undefined) out.note(`decided already: ${decided}`);
  for (const user of users.slice(0, SHOWN)) out.note(`  - ${user}`);
  if (users.length > SHOWN) out.note(`  … and ${users.length - SHOWN} more`);
}

/** undefined where nobody has decided. */
const sayDecision = (decision: HoldDecision): string | undefined =>
  decision.kind === 'waiting'
    ? undefined
    : `${decision.kind} by ${decision.by} at ${new Date(decision.atMs).toISOString()}, ${decision.reason}`;

function sayOutcome(outcome: HoldOutcome, name: string): string {
  if (outcome.kind === 'decided')
    return name === 'approve' ? 'approved; apply does it now' : 'rejected; they stay';
  const hold = outcome.kind === 'changed' ? outcome.hold : undefined;
  const decided = hold && sayDecision(hold.decision);
  if (decided !== undefined) return `nothing was changed; the hold was decided while you looked: ${decided}`;
  return 'nothing was changed; the hold changed while you looked; see groupsync holds';
}
