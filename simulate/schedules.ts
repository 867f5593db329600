import { eachConnection } from '../shared/runtime/each-connection.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { runReconcile } from '../shared/runtime/run-reconcile.ts';
import { refreshPeople } from '../shared/sync/people.ts';
import { pump } from '../shared/sync/pump.ts';
import type { Cloud } from './cloud.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, START_MS } from './life.ts';

type Task = 'pump' | 'feed' | 'sweep' | 'people' | 'health';

const TIMEOUT_MS = 15 * MINUTE_MS;
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => SILENT };
const UNCOUNTED = { emit() {} };

/** While tempers or faults may show, every third run is done at least: what they change leaves no mark. */
const TROUBLED_RUNS = 3;

/** As deployed (shared/contract/topology.ts), each with a minute of its own. */
const EVERY: Readonly<
  Record<Task, { readonly everyMs: number; readonly firstMs: number; readonly leftOutMs: number }>
> = {
  people: { everyMs: HOUR_MS, firstMs: 2_000, leftOutMs: 6 * HOUR_MS },
  pump: { everyMs: MINUTE_MS, firstMs: 30_000, leftOutMs: 20 * MINUTE_MS },
  feed: { everyMs: 5 * MINUTE_MS, firstMs: 45_000, leftOutMs: HOUR_MS },
  sweep: { everyMs: HOUR_MS, firstMs: 20 * MINUTE_MS, leftOutMs: 6 * HOUR_MS },
  health: { everyMs: DAY_MS, firstMs: 3 * HOUR_MS, leftOutMs: 0 },
};

/**
 * Runs what the schedules run. To live years in minutes, a run that would find what the last good one found is left out,
 * `leftOutMs` at most: of ten thousand minutes a week nearly all are such.
 */
export function startSchedules(cloud: Cloud): void {
  for (const task of Object.keys(EVERY) as Task[]) {
    const last = { atMs: Number.NEGATIVE_INFINITY, mark: undefined as string | undefined };
    const { everyMs, firstMs, leftOutMs } = EVERY[task];
    const again = (atMs: number) =>
      cloud.time.at(atMs, () => {
        if (cloud.isOver) return;
        again(atMs + everyMs);
        const mark = markOf(task, cloud);
        const isTroubled = task !== 'pump' && cloud.nowMs() < cloud.troubledUntilMs;
        const waitMs = isTroubled ? Math.min(leftOutMs, TROUBLED_RUNS * everyMs) : leftOutMs;
        if (mark !== undefined && mark === last.mark && cloud.nowMs() - last.atMs < waitMs) return;
        last.atMs = cloud.nowMs();
        last.mark = undefined;
        cloud.start(
          runTask(task, cloud).then((lived) => {
            if (lived) last.mark = mark;
          }),
        );
      });
    again(START_MS + firstMs);
  }
}

export function runTask(task: Task, cloud: Cloud): Promise<boolean> {
  return cloud.invoke(task, TIMEOUT_MS, async ({ ports }) => {
    const round = { connections: ports.connections, only: undefined, logger: SILENT };
    const deadlineMs = ports.clock() + TIMEOUT_MS - 30_000;
    const { failure } = await eachConnection<unknown>(round, (connection) =>
      task === 'people'
        ? refreshPeople(connection, ports)
        : // Levels are for dashboards, and most of what a pump reads.
          task === 'pump'
          ? pump(connection.name, ports)
          : runReconcile(connection, { task }, { ports, metrics: UNCOUNTED, deadlineMs }),
    );
    if (failure !== undefined) throw failure.error;
  });
}

/** What a run would look at; undefined where there is something to be done. */
function markOf(task: Task, cloud: Cloud): string | undefined {
  if (task === 'health') return undefined;
  const gates: unknown[] = [];
  for (const connection of cloud.connections.keys()) {
    const gate: Readonly<Record<string, unknown>> = cloud.table.items.get(`C#${connection} GATE`) ?? {};
    const { state = 'open', untilMs = 0 } = gate;
    // A closed gate is tried when its time has come, or when there is another secret.
    if (state !== 'open') gates.push([untilMs, cloud.vault.versions.get(connection)]);
    const isTried = state !== 'open' && state !== 'paused' && Number(untilMs) <= cloud.nowMs();
    if (task === 'pump' && isTried) return undefined;
    if (task === 'pump' && state === 'open' && hasWorkForPump(connection, cloud)) return undefined;
  }
  if (task === 'pump') return JSON.stringify(gates);
  const marks = [...cloud.platforms.values()].map(({ writes, foreign }) => writes.length + foreign.length);
  return JSON.stringify([...marks, cloud.companyDeeds]);
}

/** Walks, or groups that are due and may be written: those that wait for a person wait for no pump. */
function hasWorkForPump(connection: string, { table, nowMs }: Cloud): boolean {
  const isObserving = table.items.get(`C#${connection} CONNECTION`)?.['observing'] === true;
  const now = String(nowMs()).padStart(14, '0');
  for (let shard = 0; shard < 4; shard += 1) {
    const first = (kind: string, pageSize: number) =>
      table.page({ partition: `${kind}#${connection}#${shard}`, index: true, pageSize }).items;
    if (first('walks', 1).length > 0) return true;
    const due = first('groups', 10).filter(({ gsk, paused }) => String(gsk) <= now && paused !== true);
    if (due.length > 0 && !isObserving) return true;
  }
  return false;
}
