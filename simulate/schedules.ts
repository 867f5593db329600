import { type ConnectionName, connectionName } from '../shared/domain/ids.ts';
import { eachConnection } from '../shared/runtime/each-connection.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { runPeople, runReconcile } from '../shared/runtime/run-reconcile.ts';
import type { Item } from '../shared/store/table.ts';
import { type RequeueReport, requeueDue } from '../shared/sync/requeue.ts';
import { isOccupied } from '../shared/sync/under-lease.ts';
import { type Cloud, groupItem, linkIn } from './cloud.ts';
import type { EnginePorts } from './engine.ts';
import type { SimulatedPlatform } from './platform/platform.ts';
import { afterSilence } from './silence.ts';
import {
  type ConnectionSpec,
  DAY_MS,
  type Happening,
  HOUR_MS,
  MINUTE_MS,
  START_MS,
} from './simulation-run.ts';

const TIMEOUT_MS = 15 * MINUTE_MS;
const INDEX_LATE_MS = 2 * MINUTE_MS;
const SILENT: Logger = { info() {}, warn() {}, error() {}, with: () => SILENT };

/**
 * The schedules of the deployed functions (shared/contract/topology.ts). Each schedule begins at a different time. A
 * scheduled run is skipped if it would find the same state as the last successful run. Runs are skipped for at most
 * `leftOutMs`, or for at most `soonMs` if a fault may affect the run or, for the feed, if groupsync has written since
 * the last run.
 */
const RHYTHMS = {
  people: { everyMs: HOUR_MS, firstMs: INDEX_LATE_MS + 2_000, leftOutMs: 11 * HOUR_MS, soonMs: 4 * HOUR_MS },
  pump: { everyMs: MINUTE_MS, firstMs: 30_000, leftOutMs: 5 * HOUR_MS, soonMs: 5 * HOUR_MS },
  feed: { everyMs: 5 * MINUTE_MS, firstMs: 45_000, leftOutMs: 6 * HOUR_MS, soonMs: 2 * HOUR_MS },
  // The hour of the day decides which groups a sweep cleans. With steps of seven hours, the sweeps reach every hour of
  // the day in turn.
  sweep: { everyMs: HOUR_MS, firstMs: 20 * MINUTE_MS, leftOutMs: 7 * HOUR_MS, soonMs: 4 * HOUR_MS },
  health: { everyMs: DAY_MS, firstMs: 3 * HOUR_MS, leftOutMs: 0, soonMs: 0 },
};
type Task = keyof typeof RHYTHMS;
/** The daily clean-up reads one of thirty parts of the table. */
const PARTS = 30;
/** groupsync keeps the data of people who left for 430 days. */
const KEPT_DAYS = 430;
const FEED_FAILED_MS = 20 * MINUTE_MS;
type Last = { readonly atMs: number; readonly mark?: Mark | undefined };

/**
 * The state that a scheduled run would find, as text. After a change of `finding`, the next run is not skipped. After a
 * change of `echo` alone, runs are skipped for at most `soonMs`.
 */
interface Mark {
  readonly finding: string;
  readonly echo: string;
}

/**
 * Starts the scheduled runs. For each connection separately, a run is skipped if it would find the same state as the
 * last successful run. A week has ten thousand scheduled runs, and nearly all of them find no change. Without these
 * runs, the simulation of years takes only minutes.
 */
export function startSchedules(cloud: Cloud): void {
  for (const task of Object.keys(RHYTHMS) as Task[]) {
    const lasts = new Map<string, Last>();
    const waiting: Waiting = new Map();
    const around = { ...cloud, met: cloud.run.happenings.filter((one) => isMetBy(task, one)), waiting };
    const { everyMs, firstMs } = RHYTHMS[task];
    // After a long silence, the runs continue at the same minute of the hour as before the silence.
    const nextOf = (atMs: number) =>
      atMs + Math.floor((afterSilence(cloud, atMs) - atMs) / everyMs) * everyMs;
    const again = (atMs: number) =>
      cloud.time.at(atMs, () => {
        if (cloud.isOver) return;
        again(nextOf(atMs + everyMs));
        const marks = [...cloud.connections.values()].map(
          (spec) => [spec.name, markOf(task, spec, around)] as const,
        );
        const due = marks.filter(([name, mark]) => !isLeftOut(task, mark, atMs, lasts.get(name)));
        if (due.length === 0) return;
        for (const [name] of due) lasts.set(name, { atMs });
        const only = due.length === marks.length ? [undefined] : due.map(([name]) => connectionName(name));
        const run = runTask(task, only, cloud).then((completed) => {
          for (const [name, mark] of completed ? due : []) lasts.set(name, { atMs, mark });
        });
        cloud.start(run);
        if (cloud.lambdas.isTwin()) cloud.start(runTask(task, only, cloud));
      });
    again(START_MS + firstMs);
  }
}

function isLeftOut(task: Task, mark: Mark | undefined, nowMs: number, last?: Last): boolean {
  if (last === undefined) return false;
  const sinceMs = nowMs - last.atMs;
  if (last.mark === undefined && task === 'feed') return sinceMs < FEED_FAILED_MS;
  const { leftOutMs, soonMs } = RHYTHMS[task];
  const waitMs = mark?.echo === last.mark?.echo ? leftOutMs : soonMs;
  return mark !== undefined && mark.finding === last.mark?.finding && sinceMs < waitMs;
}

/** Executes one invocation for these connections. The value undefined means all connections. */
function runTask(task: Task, only: readonly (ConnectionName | undefined)[], cloud: Cloud): Promise<boolean> {
  return cloud.invoke(task, TIMEOUT_MS, async ({ ports }) => {
    const deadlineMs = ports.clock() + TIMEOUT_MS - 30_000;
    const failures: unknown[] = [];
    for (const chosen of only) {
      const all = { connections: ports.connections, only: chosen, logger: SILENT, random: () => 0 };
      const { failure, reports } = await eachConnection<unknown>(all, (connection) => {
        if (task === 'people') return runPeople(connection, {}, ports);
        if (task !== 'pump')
          return runReconcile(connection, { task }, { ports, found: new Map(), deadlineMs });
        // The findings are not computed here, because they cause most of the reads of the requeue job.
        return requeueDue(connection.name, ports).then((report) => noteFanOuts(report, cloud));
      });
      if (failure !== undefined) failures.push(failure.error);
      if (reports.some(isOccupied)) failures.push(new Error('another run has the lease'));
    }
    // As in the deployed function, the clean-up runs after the daily check. Shorter runs have no data that is old
    // enough for the clean-up.
    if (task === 'health' && cloud.run.days > KEPT_DAYS) await cleanUp(ports, cloud);
    if (failures.length > 0) throw failures[0];
  });
}

/** Cleans all parts of the table, because the simulation skips most daily runs. */
async function cleanUp({ eraser, clock }: EnginePorts, { runLog, nowMs }: Cloud): Promise<void> {
  if (nowMs() < START_MS + KEPT_DAYS * DAY_MS) return;
  for (let day = 0; day < PARTS; day += 1) {
    const erased = await eraser.leavers(clock() - day * DAY_MS);
    if (Object.keys(erased).length > 0) runLog.fired('leavers');
  }
}

/** Logs the user fan-outs that the requeue job resumed after a crash of ingest. */
function noteFanOuts(
  { connection, walksResumed }: RequeueReport,
  { directory, lastMessageMs, nowMs }: Cloud,
): void {
  const groups = walksResumed === 0 ? [] : directory.read(connection).changedAtMs.keys();
  for (const group of groups) lastMessageMs.set(`${connection} ${group}`, nowMs());
}

/** The environment, with the happenings that may affect the task. */
interface Around extends Cloud {
  readonly met: readonly Happening[];
  readonly waiting: Waiting;
}

/** Returns the state that a run of the task would find; undefined if the simulation must not skip the run. */
function markOf(task: Task, { name, company }: ConnectionSpec, cloud: Around): Mark | undefined {
  const platform = cloud.platforms.get(company);
  if (task === 'health' || platform === undefined) return undefined;
  if (task === 'pump') return pumpMarkOf(name, cloud);
  const { run, met, table, nowMs } = cloud;
  const { gate } = gateOf(name, cloud);
  const sinceMs = nowMs() - START_MS;
  // A run finds connections by the index, and the index may show a new connection late.
  if (cloud.actions.some(({ kind, atMs }) => kind === 'connect' && atMs > nowMs() - INDEX_LATE_MS))
    return undefined;
  const around = met.filter(
    ({ atMs, action }) => atMs <= sinceMs && (!('forMs' in action) || atMs + action.forMs > sinceMs),
  );
  const hasRecentFault = around.some(({ action }) => 'forMs' in action);
  // An action may have its effect an hour later, for example the replay of a message about a person. So the state
  // contains the number of operator actions up to now, and the number up to an hour ago.
  const actions = [0, HOUR_MS].map(
    (agoMs) => cloud.actions.filter(({ atMs }) => atMs <= nowMs() - agoMs).length,
  );
  const { clientWrites, traits, writes } = platform;
  // Events may arrive after the refresh of people. So the state contains the number of changes of employees up to now,
  // and the number up to an hour ago. The state contains an external change only after the feed shows the change.
  const found = {
    people: () =>
      [0, HOUR_MS].map((agoMs) => {
        const untilMs = nowMs() - agoMs;
        const past = run.happenings.filter(
          ({ actor, atMs }) => actor === 'company' && START_MS + atMs <= untilMs,
        );
        // The state contains the time of the last event, because an event may bind a member to an employee who was
        // erased before.
        const received = [...cloud.directory.read(name).changedAtMs.values()].filter(
          (atMs) => atMs <= untilMs,
        );
        return [past.length, past.some(({ action }) => action.kind === 'erase') && Math.max(...received)];
      }),
    feed: () => [
      clientWrites.filter(({ atMs }) => atMs + traits.feedLagMs <= nowMs()).length,
      table.items.get(`C#${name} FEED`)?.['needsSweep'],
    ],
    sweep: () => strayIn(platform, name, cloud),
  }[task]();
  return {
    finding: JSON.stringify([gate, around.map(({ action }) => action.kind), actions, found]),
    echo: JSON.stringify([task === 'feed' && writes.length, hasRecentFault && nowMs()]),
  };
}

/**
 * Returns whether the fault may affect this task. A crash affects only the task that it names. Faults of writes affect
 * no scheduled task. Faults of the feed affect only the feed. Faults of lists affect only the sweep and the refresh of
 * people.
 */
function isMetBy(task: Task, { action }: Happening): boolean {
  if (action.kind === 'crash') return action.lambda === task;
  if (!('forMs' in action)) return false;
  const name = action.kind === 'platformFault' ? action.platformFault : action.kind;
  if (/^(?:writes_|drops_|keeps_|refuses_(?:user|name|spoke)|late_writes|twins)/.test(name)) return false;
  if (name.startsWith('feed_')) return task === 'feed';
  return !name.startsWith('list_') || task === 'sweep' || task === 'people';
}

const SHARDS = [0, 1, 2, 3];

/**
 * Returns the groups for which a sweep has work: linked groups that were changed or deleted, groups with an expired
 * hold, and unlinked platform groups. Groups with a scheduled wake-up are deliberately left out. If the sweep woke
 * these groups in time, no check would notice a broken requeue job.
 */
function strayIn({ groups, clientWrites }: SimulatedPlatform, name: string, cloud: Cloud): readonly string[] {
  const nowMs = cloud.nowMs();
  const linked = new Set<unknown>();
  const found = [...cloud.directory.read(name).changedAtMs.keys()].flatMap((group) => {
    const item: Partial<Item> = groupItem(cloud, name, group) ?? {};
    const { id: platformId, version } = linkIn(item) ?? {};
    linked.add(platformId);
    const { sets } = (item['removals'] ?? { sets: [] }) as {
      sets: readonly { readonly expiresAtMs: number }[];
    };
    const isOver = sets.some(({ expiresAtMs }) => expiresAtMs <= nowMs);
    const shown = platformId === undefined ? version : groups.get(platformId)?.version;
    if (shown === version && !isOver) return [];
    // If a platform computes versions from the content, two equal external changes have the same version. The time of
    // the change distinguishes them.
    const edited = clientWrites.findLast(({ id }) => id === platformId)?.atMs;
    return [`${group} ${isOver} ${shown} ${edited}`];
  });
  const unlinked = [...groups.values()].filter(({ id, spokeId }) => spokeId !== null && !linked.has(id));
  return [...found, ...unlinked.map(({ id }) => id)];
}

/** Returns the stored gate. The field `gate` is 0 for an open gate, or the end of its wait with the version. */
function gateOf(name: string, { table, secretsManager }: Cloud) {
  const stored: Partial<Item> = table.items.get(`C#${name} GATE`) ?? {};
  const { state = 'open', untilMs = 0, backlog = false } = stored;
  return {
    state,
    untilMs,
    backlog,
    gate: state === 'open' ? 0 : [untilMs, secretsManager.stored.get(name)?.version],
  };
}

/**
 * For each connection: the inputs of the requeue job, the time since which the job has had work, and the state that the
 * job finds if it has no work.
 */
type Waiting = Map<string, { inputs: readonly unknown[]; sinceMs: number; mark: Mark }>;

/** Returns the state that the requeue job would find; undefined if the job has work. */
function pumpMarkOf(name: string, cloud: Around): Mark | undefined {
  const { table, secretsManager, waiting } = cloud;
  const [gate, connection] = [table.items.get(`C#${name} GATE`), table.items.get(`C#${name} CONNECTION`)];
  const inputs = [gate, connection, table.indexed, secretsManager.stored.get(name)?.version];
  let known = waiting.get(name);
  if (known === undefined || known.inputs.some((one, place) => one !== inputs[place])) {
    const finding = JSON.stringify(gateOf(name, cloud).gate);
    known = { inputs, sinceMs: workSinceMs(name, cloud), mark: { finding, echo: '' } };
    waiting.set(name, known);
  }
  return known.sinceMs < cloud.nowMs() ? undefined : known.mark;
}

/** Returns the time since which the requeue job has had work. */
function workSinceMs(name: string, cloud: Cloud): number {
  const { state, untilMs, backlog } = gateOf(name, cloud);
  const connection = cloud.table.items.get(`C#${name} CONNECTION`);
  // A move to another source is rare, so its items are read only after a takeover.
  const isMoving =
    cloud.actions.some(({ kind }) => kind === 'takeover') &&
    cloud.under<Item>(`C#${name}`, 'READERMOVE#').some(({ openSinceMs }) => openSinceMs !== undefined);
  if (backlog || isMoving || connection?.['replanSinceMs'] !== undefined) return 0;
  if (state !== 'open') return state === 'paused' ? Number.POSITIVE_INFINITY : Number(untilMs) - 1;
  const first = (kind: string, shard: number, pageSize: number) =>
    cloud.table.page({ partition: `${kind}#${name}#${shard}`, index: true, pageSize }).items;
  const times = SHARDS.flatMap((shard) => {
    if (first('fanOuts', shard, 1).length > 0) return [0];
    if (connection?.['observing'] === true) return [];
    const due = first('groups', shard, 10).filter(
      ({ gsk, pausedAt }) => pausedAt === undefined && String(gsk) < '~',
    );
    return due.map(({ gsk }) => Number.parseInt(String(gsk), 10));
  });
  return Math.min(...times);
}
