import type { Command } from 'commander';
import * as z from 'zod';
import { requireConnection } from '../../shared/operate/settings.ts';
import type { DriftRecord } from '../../shared/sync/ports/logs.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { examples } from './arguments.ts';
import { dirtyGroups, follow, NO_WAIT, type Wait } from './follow.ts';

/** Functions answer for each connection; of a report whatever it holds is passed on. */
const Answer = z.object({ reports: z.array(z.record(z.string(), z.unknown())) });
const Skipped = z.object({ skipped: z.string() });

export function addReconcile(program: Command, act: Act): void {
  program
    .command('reconcile')
    .description("read the platform's activity feed now, or compare every group")
    .option('--sweep', 'compare every group with the platform, not only those in the feed')
    .option(...NO_WAIT)
    .addHelpText(...examples('reconcile', 'reconcile --sweep --json'))
    .action(
      act((context, { sweep, wait }: Wait & { readonly sweep?: boolean }) =>
        runNow(context, 'reconcile', { task: sweep === true ? 'sweep' : 'feed', wait }),
      ),
    );
  const people = program
    .command('people')
    .description('the index of employees by which members are matched')
    .addHelpText(...examples('people refresh', 'people refresh --json'));
  people
    .command('refresh')
    .description('read all employees now')
    .addHelpText(...examples('people refresh', 'people refresh --json'))
    .action(act((context) => runNow(context, 'people', {})));
}

/** The deployed function does it, with its own permissions and its own locks; this waits, and tells of it. */
async function runNow(
  context: Context,
  name: 'reconcile' | 'people',
  { wait = false, ...event }: { readonly task?: string; readonly wait?: boolean },
): Promise<number> {
  const { out, connection } = context;
  const ports = await context.ports();
  await requireConnection(connection, ports);
  out.note(`running ${name} for ${connection} …`);
  const before = await recentDrift(context);
  const answer = Answer.parse(await ports.functions.run(name, { ...event, connection }));
  const [report = {}] = answer.reports;
  const skipped = Skipped.safeParse(report);
  const code = wait && !skipped.success ? await follow(context, await dirtyGroups(context)) : EXIT.done;
  // Drift is found by apply, after the run: the run itself reports what came of the one before.
  const own =
    wait && 'drift' in report ? { ...report, ...driftSince(before, await recentDrift(context)) } : report;
  out.answer(own, () => out.line(skipped.success ? `not run: ${skipped.data.skipped}` : sayRun(own)));
  if (Object.keys(Object(own['drift'])).length > 0) out.note('next: groupsync drift --since 10m');
  return skipped.success ? EXIT.attention : code;
}

/** Clocks differ; what was known before the run is told apart by what it is. */
const RECENT_MS = 120_000;

async function recentDrift({ connection, ports }: Context): Promise<readonly DriftRecord[]> {
  const { drift, clock } = await ports();
  const found: DriftRecord[] = [];
  for await (const page of drift.since(connection, clock() - RECENT_MS)) found.push(...page);
  return found;
}

function driftSince(before: readonly DriftRecord[], now: readonly DriftRecord[]) {
  const known = new Map(before.map((one) => [one.id, one.settledBy]));
  const kinds: Record<string, number> = {};
  const settled = { restore: 0, report: 0, adopt: 0 };
  for (const { id, kind, settledBy } of now) {
    if (!known.has(id)) kinds[kind] = (kinds[kind] ?? 0) + 1;
    if (settledBy !== null && (known.get(id) ?? null) === null) settled[settledBy] += 1;
  }
  return { drift: kinds, restored: settled.restore, reported: settled.report, adopted: settled.adopt };
}

const WORDS: Readonly<Record<string, string>> = {
  ...{ read: 'employees read', changed: 'changed', gone: 'gone', asked: 'asked for by id' },
  ...{ woken: 'groups looked at again', eventsRead: 'events of the feed read' },
  ...{ groupsTouched: 'groups touched by others', echoes: 'only by us' },
  ...{
    orphans: 'groups of ours that nothing links',
    missing: 'linked groups gone',
    reenqueued: 'groups woken',
  },
  ...{ restored: 'restored', reported: 'left as they are', adopted: 'adopted' },
};
/** Told also where there were none. */
const TOLD = /^(?:read|eventsRead|groupsTouched)$/;

function sayRun({ drift = {}, ...report }: Readonly<Record<string, unknown>>): string {
  const kinds = Object.entries(Object(drift)).map(([kind, count]) => `${count} ${kind}`);
  const counts = Object.entries(WORDS).flatMap(([key, word]) =>
    key in report && (report[key] !== 0 || TOLD.test(key))
      ? `${report[key]} ${word}`.replace(/^1 (\w+)s\b/, '1 $1')
      : [],
  );
  return [...counts, ...(kinds.length === 0 ? [] : [`by others: ${kinds.join(', ')}`])].join('; ');
}
