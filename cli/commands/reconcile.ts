import type { Command } from 'commander';
import * as z from 'zod';
import { fixForGate } from '../../shared/operate/status.ts';
import { FunctionFailed } from '../../shared/sync/ports/deployment.ts';
import type { DriftRecord } from '../../shared/sync/ports/logs.ts';
import { collectPages } from '../../shared/sync/tuning.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, HintedError } from '../io.ts';
import { examples } from './arguments.ts';
import { dirtyGroups, follow, NO_WAIT, type WaitOption } from './follow.ts';

/**
 * The function answers with one report for each connection, so here with one report. `--json` prints all its fields.
 */
const Answer = z.object({ reports: z.array(z.record(z.string(), z.unknown())) });
const Skipped = z.object({ skipped: z.string() });

export function addReconcile(program: Command, act: Act): void {
  program
    .command('reconcile')
    .description('read the activity feed of the platform now, or compare every group')
    .option('--sweep', 'compare every group with the platform, not only groups in the feed')
    .option(...NO_WAIT)
    .addHelpText(...examples('reconcile', 'reconcile --sweep --json'))
    .action(
      act((context, { sweep, wait }: WaitOption & { readonly sweep?: boolean }) =>
        runNow(context, 'reconcile', { task: sweep === true ? 'sweep' : 'feed', wait }),
      ),
    );
  const people = program
    .command('people')
    .description('the index of employees that members are matched with')
    .addHelpText(...examples('people refresh', 'people refresh --json'));
  people
    .command('refresh')
    .description('read all employees now')
    .addHelpText(...examples('people refresh', 'people refresh --json'))
    .action(act((context) => runNow(context, 'people', {})));
}

/**
 * Both reads return the drift records since this time before the start of the command. A record that the first read
 * returned with the same outcome is not new.
 */
const RECENT_MS = 120_000;

/** Runs the task in the deployed function, with its permissions and locks. Waits for the result and reports it. */
async function runNow(
  context: Context,
  name: 'reconcile' | 'people',
  { wait = false, ...event }: { readonly task?: string; readonly wait?: boolean },
): Promise<number> {
  const { out, connection } = context;
  const { ports } = await context.connected();
  const sinceMs = ports.clock() - RECENT_MS;
  const readDrift = () => collectPages(ports.drift.since(connection, sinceMs));
  out.note(`running ${name} for ${connection} …`);
  const known = new Set((await readDrift()).map(({ id, settledBy }) => `${id} ${settledBy}`));
  const ran = ports.functions.run(name, { ...event, connection }).catch(async (cause: Error) => {
    if (!(cause instanceof FunctionFailed)) throw cause;
    const { state } = await ports.gates.read(connection);
    // A pause stops only writes, so it cannot be the reason for a failed run.
    const fix = state === 'paused' ? undefined : fixForGate({ state }, connection);
    throw new HintedError(cause.message, fix ?? 'groupsync doctor --faults');
  });
  const answer = Answer.parse(await ran);
  const [report = {}] = answer.reports;
  const skipped = Skipped.safeParse(report);
  const isFollowed = wait && !skipped.success;
  const code = isFollowed ? await follow(context, await dirtyGroups(context)) : EXIT.done;
  // The report of the run does not contain the drift that apply finds afterwards. So the drift records are read again.
  const drift = isFollowed ? await readDrift() : [];
  const found = drift.filter(({ id, settledBy }) => !known.has(`${id} ${settledBy}`));
  const own = isFollowed ? { ...report, ...countsOf(found) } : report;
  out.answer(own, () => out.line(skipped.success ? `not run: ${skipped.data.skipped}` : formatRun(own)));
  if (found.length > 0) out.note('next: groupsync log --action drift --since 10m');
  return skipped.success ? EXIT.attention : code;
}

function countsOf(found: readonly DriftRecord[]) {
  const drift: Record<string, number> = {};
  for (const { kind } of found) drift[kind] = (drift[kind] ?? 0) + 1;
  const count = (by: string) => found.filter(({ settledBy }) => settledBy === by).length;
  return { drift, restored: count('restore'), reported: count('report'), adopted: count('adopt') };
}

const LABELS: Readonly<Record<string, string>> = {
  read: 'employees read',
  changed: 'changed',
  gone: 'gone',
  asked: 'requested by id',
  woken: 'groups checked again',
  eventsRead: 'events of the feed read',
  groupsTouched: 'groups checked',
  echoes: 'changed only by groupsync',
  orphans: 'unlinked managed groups',
  missing: 'linked groups gone',
  reenqueued: 'groups woken',
  restored: 'restored',
  reported: 'left as is',
  adopted: 'adopted',
};
const ALWAYS_SHOWN = /^(?:read|eventsRead|groupsTouched)$/;

function formatRun({ drift = {}, ...report }: Readonly<Record<string, unknown>>): string {
  const kinds = Object.entries(Object(drift)).map(([kind, count]) => `${count} ${kind}`);
  const counts = Object.entries(LABELS).flatMap(([key, label]) =>
    key in report && (report[key] !== 0 || ALWAYS_SHOWN.test(key))
      ? `${report[key]} ${label}`.replace(/^1 (\w+)s\b/, '1 $1')
      : [],
  );
  if (kinds.length > 0) counts.push(`by others: ${kinds.join(', ')}`);
  return counts.join('; ');
}
