import type { Command } from 'commander';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../../shared/operate/pausing.ts';
import { formatGate, readStatus } from '../../shared/operate/status.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { duration, plural } from '../output/words.ts';
import { examples } from './arguments.ts';
import { dirtyGroups, follow, NO_WAIT, type Wait } from './follow.ts';

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
}

async function pause(
  context: Context,
  group: string | undefined,
  { reason, wait }: Wait & { readonly reason?: string },
): Promise<number> {
  const { out, connection } = context;
  const ports = await context.ports();
  const ref = group === undefined ? undefined : await context.group(group);
  if (ref === undefined) await context.connected();
  const seen = await ports.gates.read(connection);
  if (ref === undefined && seen.state === 'paused') out.note(`already paused: ${seen.reason}`);
  const what = ref === undefined ? `connection ${connection}` : `group ${await context.groupLabel(ref)}`;
  if (!(await context.confirm(`Pause the ${what}? Changes are stored and written later.`)))
    return EXIT.failed;
  if (ref === undefined) await pauseConnection(connection, reason, ports, seen);
  else await pauseGroup(ref, ports, reason);
  out.answer({ paused: ref?.group ?? connection, reason: reason ?? null }, () =>
    out.line(`paused the ${what}`),
  );
  if (!wait) return EXIT.done;
  return follow(context, ref === undefined ? await dirtyGroups(context) : [ref], { writesOnly: true });
}

/** How long the command waits for the backlog. The requeue job, which wakes waiting groups, runs once a minute. */
const BACKLOG_MS = 120_000;

async function resume(context: Context, group: string | undefined, { wait }: Wait): Promise<number> {
  const { out, connection } = context;
  const ports = await context.ports();
  if (group !== undefined) {
    const ref = await context.group(group);
    const shown = await ports.groups.read(ref);
    if (!(await context.confirm(`Resume the group ${await context.groupLabel(ref)}?`))) return EXIT.failed;
    const resumed = await resumeGroup(ref, ports, shown);
    out.answer({ resumed: ref.group, wasPaused: resumed, backlog: null }, () =>
      out.line(resumed ? 'resumed' : 'not paused'),
    );
    return resumed && wait ? follow(context, [ref]) : EXIT.done;
  }
  const { found } = await context.connected();
  const seen = { gate: await ports.gates.read(connection), observing: found.observing };
  const { backlog, oldestUnappliedMs, gate, observing } = await readStatus(found, ports);
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
