import type { Command } from 'commander';
import type { Gate } from '../../shared/domain/gate.ts';
import type { GroupRef } from '../../shared/domain/ids.ts';
import {
  pauseConnection,
  pauseGroup,
  readPause,
  resumeConnection,
  resumeGroup,
} from '../../shared/operate/pausing.ts';
import { acceptRestored, endRestore } from '../../shared/operate/restated.ts';
import { formatGate, readStatus } from '../../shared/operate/status.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { duration, plural } from '../output/words.ts';
import { examples } from './arguments.ts';
import { dirtyGroups, follow, NO_WAIT, type WaitOption } from './follow.ts';
import { formatPause } from './status.ts';

export function addPause(program: Command, act: Act): void {
  program
    .command('pause')
    .description('stop writes to the platform, for the connection or one group; events are stored')
    .argument('[group]', 'id, name, or a prefix; without it: the whole connection')
    .option('--reason <text>', 'reason, shown to other operators')
    .option(...NO_WAIT)
    .addHelpText(...examples('pause --reason "platform maintenance"', 'pause 00g1'))
    .action(act(pause));
  program
    .command('resume')
    .description('resume writes; shows the waiting changes first')
    .argument('[group]', 'id, name, or a prefix; without it: the whole connection')
    .option(...NO_WAIT)
    .addHelpText(...examples('resume', 'resume 00g1'))
    .action(act(resume));
  program
    .command('restated')
    .description('after a restore of the table: accept the stored members, without a new list of the source')
    .argument('[group]', 'id, name, or a prefix')
    .option('--all', 'all groups of the connection')
    .addHelpText(...examples('restated 00g1', 'restated --all'))
    .action(act(restated));
}

async function restated(
  context: Context,
  group: string | undefined,
  { all = false }: { readonly all?: boolean },
): Promise<number> {
  const { out, connection } = context;
  if ((group === undefined) !== all) throw new UsageError('expected a group, or --all');
  const { found, ports } = await context.connected();
  const ref = group === undefined ? undefined : await context.group(group);
  const what = ref === undefined ? 'all groups' : `the group ${await context.groupLabel(ref)}`;
  out.note('members that left the directory since the restored instant may be added again');
  if (!(await context.confirm(`Accept the stored members of ${what}?`))) return EXIT.failed;
  const groups = ref ? Number(await acceptRestored(ref, found, ports)) : await endRestore(found, ports);
  out.answer({ restated: ref?.group ?? connection, groups: groups ?? 0 }, () =>
    out.line(
      groups ? `accepted; ${plural(groups, 'group')} will be synced` : 'nothing waits after a restore',
    ),
  );
  return EXIT.done;
}

async function pause(
  context: Context,
  group: string | undefined,
  { reason, wait }: WaitOption & { readonly reason?: string },
): Promise<number> {
  const { out, connection } = context;
  const { ref, what, ports } = await targetOf(context, group);
  const seen = await ports.gates.read(connection);
  const already = await alreadyPaused(ref, seen, ports);
  const isUnchanged = already !== undefined && reason === undefined;
  if (!isUnchanged) {
    if (already !== undefined) out.note(already);
    if (!(await context.confirm(`Pause the ${what}? Changes are stored and written later.`)))
      return EXIT.failed;
    await (ref ? pauseGroup(ref, ports, reason) : pauseConnection(connection, reason, ports, seen));
  }
  out.answer({ paused: ref?.group ?? connection, reason: reason ?? null }, () =>
    out.line(isUnchanged ? already : `paused the ${what}`),
  );
  if (!wait) return EXIT.done;
  return follow(context, ref === undefined ? await dirtyGroups(context) : [ref], { writesOnly: true });
}

async function targetOf(context: Context, group: string | undefined) {
  if (group === undefined) {
    const { ports } = await context.connected();
    return { ref: undefined, what: `connection ${context.connection}`, ports };
  }
  const ref = await context.group(group);
  return { ref, what: `group ${await context.groupLabel(ref)}`, ports: await context.ports() };
}

async function alreadyPaused(ref: GroupRef | undefined, gate: Gate, ports: ToolPorts) {
  if (ref === undefined) return gate.state === 'paused' ? `already paused: ${gate.reason}` : undefined;
  const found = await readPause(ref, ports);
  return found && `already paused ${formatPause(found)}`;
}

/** How long the command waits for the backlog. The requeue job, which wakes waiting groups, runs once a minute. */
const BACKLOG_MS = 120_000;

async function resume(context: Context, group: string | undefined, { wait }: WaitOption): Promise<number> {
  return group === undefined
    ? resumeAll(context, wait)
    : resumeOne(context, await context.group(group), wait);
}

async function resumeOne(context: Context, ref: GroupRef, wait: boolean): Promise<number> {
  const { out } = context;
  const ports = await context.ports();
  const shown = await ports.groups.read(ref);
  if (!(await context.confirm(`Resume the group ${await context.groupLabel(ref)}?`))) return EXIT.failed;
  const resumed = await resumeGroup(ref, ports, shown?.pausedAtMs ?? null);
  out.answer({ resumed: ref.group, wasPaused: resumed, backlog: null }, () =>
    out.line(resumed ? 'resumed' : 'the group is not paused; nothing to resume'),
  );
  return resumed && wait ? follow(context, [ref]) : EXIT.done;
}

async function resumeAll(context: Context, wait: boolean): Promise<number> {
  const { out, connection } = context;
  const { found, ports } = await context.connected();
  const seen = { gate: await ports.gates.read(connection), observing: found.observing };
  const { backlog, oldestUnappliedMs, gate, observing } = await readStatus(found, ports);
  if (gate.state === 'open' && !observing) {
    out.answer({ resumed: connection, wasPaused: false, backlog }, () =>
      out.line('the connection is not paused; nothing to resume'),
    );
    return EXIT.done;
  }
  const oldest = oldestUnappliedMs === null ? '' : `, the oldest for ${duration(oldestUnappliedMs)}`;
  out.note(
    `gate ${formatGate(gate)}${observing ? ', observing' : ''}; ${plural(backlog, 'group')} wait${backlog === 1 ? 's' : ''}${oldest}`,
  );
  out.note('the guard holds large removals; to see the next writes: groupsync plan');
  if (!(await context.confirm(`Resume the connection ${connection}?`))) return EXIT.failed;
  await resumeConnection(connection, ports, seen);
  out.answer({ resumed: connection, wasPaused: gate.state === 'paused', backlog }, () =>
    out.line(`resumed; the backlog is written at a limited rate: groupsync status`),
  );
  return follow(context, wait ? await dirtyGroups(context) : [], { timeoutMs: BACKLOG_MS });
}
