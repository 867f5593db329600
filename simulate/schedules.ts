import { connectionName } from '../shared/domain/ids.ts';
import { eachConnection } from '../shared/runtime/each-connection.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { runReconcile } from '../shared/runtime/run-reconcile.ts';
import type { Connection } from '../shared/sync/ports/connections.ts';
import { refreshPeople } from '../shared/sync/people.ts';
import { pump } from '../shared/sync/pump.ts';
import type { Item } from '../shared/store/table.ts';
import { type Cloud, groupItem } from './cloud.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, START_MS } from './life.ts';
import type { SimulatedPlatform } from './platform/platform.ts';

type Task = 'pump' | 'feed' | 'sweep' | 'people' | 'health';

const TIMEOUT_MS = 15 * MINUTE_MS;
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => SILENT };
const UNCOUNTED = { emit() {} };
/** After this a dirty group is for the sweep to find. */
const STUCK_MS = 15 * MINUTE_MS;

/** As deployed (shared/contract/topology.ts), each with a minute of its own. */
const EVERY: Readonly<Record<Task, { readonly everyMs: number; readonly firstMs: number }>> = {
  people: { everyMs: HOUR_MS, firstMs: 2_000 },
  pump: { everyMs: MINUTE_MS, firstMs: 30_000 },
  feed: { everyMs: 5 * MINUTE_MS, firstMs: 45_000 },
  sweep: { everyMs: HOUR_MS, firstMs: 20 * MINUTE_MS },
  health: { everyMs: DAY_MS, firstMs: 3 * HOUR_MS },
};

/** How long a run is left out that would find what the last good one found, at most. */
const LEFT_OUT_MS: Readonly<Record<Task, number>> = {
  people: 11 * HOUR_MS,
  pump: 5 * HOUR_MS,
  feed: 6 * HOUR_MS,
  // Litter has its turn by the hour of the day: in steps of these every hour comes up.
  sweep: 7 * HOUR_MS,
  health: 0,
};
/** … or might find more: while trouble lasts that it may meet, and for the feed after writes of our own. */
const SOON_MS = { people: 4 * HOUR_MS, pump: 5 * HOUR_MS, feed: 2 * HOUR_MS, sweep: 4 * HOUR_MS, health: 0 };
const FEED_FAILED_MS = 20 * MINUTE_MS;

/** What a run would find, as text: a new text is looked at in the next run, a new `echo` before long. */
interface Mark {
  readonly finding: string;
  readonly echo: string;
}

/**
 * Runs what the schedules run. To live years in minutes, a run that would find what the last good one found is left out,
 * connection by connection: of ten thousand minutes a week nearly all are such.
 */
export function startSchedules(cloud: Cloud): void {
  for (const task of Object.keys(EVERY) as Task[]) {
    const lasts = new Map<string, { readonly atMs: number; mark?: Mark | undefined }>();
    const { everyMs, firstMs } = EVERY[task];
    const run = (connections: readonly string[], nowMs: number) => {
      const begun = connections
        .map((connection) => {
          const mark = markOf(task, connection, cloud);
          const last = lasts.get(connection);
          if (last !== undefined && isLeftOut(task, mark, last.mark, nowMs - last.atMs)) return undefined;
          return { connection, mark };
        })
        .filter((one) => one !== undefined);
      if (begun.length === 0) return;
      for (const { connection } of begun) lasts.set(connection, { atMs: nowMs });
      const only =
        begun.length === connections.length ? [undefined] : begun.map(({ connection }) => connection);
      cloud.start(
        runTask(task, only, cloud).then((lived) => {
          for (const { connection, mark } of lived ? begun : []) {
            lasts.set(connection, { atMs: nowMs, mark });
          }
        }),
      );
    };
    const again = (atMs: number) =>
      cloud.time.at(atMs, () => {
        if (cloud.isOver) return;
        again(atMs + everyMs);
        run([...cloud.connections.keys()], atMs);
      });
    again(START_MS + firstMs);
  }
}

function isLeftOut(task: Task, mark: Mark | undefined, last: Mark | undefined, sinceMs: number): boolean {
  if (last === undefined && task === 'feed') return sinceMs < FEED_FAILED_MS;
  const waitMs = mark?.echo === last?.echo ? LEFT_OUT_MS[task] : SOON_MS[task];
  return mark !== undefined && mark.finding === last?.finding && sinceMs < waitMs;
}

/** One invocation for these connections; undefined: for all. */
function runTask(task: Task, only: readonly (string | undefined)[], cloud: Cloud): Promise<boolean> {
  return cloud.invoke(task, TIMEOUT_MS, async ({ ports }) => {
    const deadlineMs = ports.clock() + TIMEOUT_MS - 30_000;
    const runOne = (connection: Connection): Promise<unknown> => {
      if (task === 'people') return refreshPeople(connection, ports);
      // Levels are for dashboards, and most of what a pump reads.
      if (task === 'pump') return pump(connection.name, ports);
      return runReconcile(connection, { task }, { ports, metrics: UNCOUNTED, deadlineMs });
    };
    for (const name of only) {
      const chosen = name === undefined ? undefined : connectionName(name);
      const round = { connections: ports.connections, only: chosen, logger: SILENT };
      const { failure } = await eachConnection(round, runOne);
      if (failure !== undefined) throw failure.error;
    }
  });
}

/** Undefined where there is something to be done. */
function markOf(task: Task, connection: string, cloud: Cloud): Mark | undefined {
  const spec = cloud.connections.get(connection);
  const platform = spec && cloud.platforms.get(spec.company);
  if (task === 'health' || platform === undefined) return undefined;
  const { nowMs } = cloud;
  const item: Partial<Item> = cloud.table.items.get(`C#${connection} GATE`) ?? {};
  const { state = 'open', untilMs = 0, backlog = false } = item;
  // A closed gate is tried when its time has come, or when there is another secret.
  const gate = state === 'open' ? 0 : [untilMs, cloud.vault.versions.get(connection)];
  if (task === 'pump') {
    const isTried = state !== 'open' && state !== 'paused' && Number(untilMs) <= nowMs();
    if (isTried || backlog || (state === 'open' && hasWorkForPump(connection, cloud))) return undefined;
    return { finding: JSON.stringify(gate), echo: '' };
  }
  const troubles = cloud.troubles.flatMap(({ name, company = spec?.company, untilMs: endsMs }) =>
    company === spec?.company && endsMs > nowMs() && isMetBy(task, name) ? [name] : [],
  );
  const deeds = cloud.deeds.filter((deed) => deed.connection === connection).length;
  const found = FINDINGS[task](platform, connection, cloud);
  return {
    finding: JSON.stringify([gate, troubles, cloud.lambdas.traps(task), deeds, found]),
    echo: JSON.stringify([task === 'feed' && platform.writes.length, troubles.length > 0 && nowMs()]),
  };
}

/** Tempers that show in writes alone, or in the list or the feed, are met by nobody else. */
function isMetBy(task: Task, name: string): boolean {
  if (/^(?:writes_|drops_|keeps_|refuses_user|late_writes|twins)/.test(name)) return false;
  return name.startsWith('feed_') ? task === 'feed' : !name.startsWith('list_') || task === 'sweep';
}

type Find = (platform: SimulatedPlatform, connection: string, cloud: Cloud) => unknown;

const FINDINGS: Readonly<Record<'people' | 'feed' | 'sweep', Find>> = {
  /** What became of the employees; and again, for who was told in between. */
  people: ({ employeesMs }, _, { nowMs }) =>
    [nowMs(), nowMs() - HOUR_MS].map((untilMs) => employeesMs.filter((atMs) => atMs <= untilMs).length),
  /** What somebody else did, once the feed tells of it. */
  feed: ({ foreign, traits }, connection, { table, nowMs }) => [
    foreign.filter(({ atMs }) => atMs + traits.feedLagMs <= nowMs()).length,
    table.items.get(`C#${connection} FEED`)?.['needsSweep'],
  ],
  /** Whatever is not as it was left. */
  sweep: strayIn,
};

const SHARDS = [0, 1, 2, 3];

/** Links to what is no more or has changed, groups that wait for long or whose hold is over, and strangers. */
function strayIn({ groups: held }: SimulatedPlatform, name: string, cloud: Cloud): readonly string[] {
  const linked = new Set<unknown>();
  const found: string[] = [];
  for (const group of cloud.directory.read(name).changedAtMs.keys()) {
    const item: Partial<Item> = groupItem(cloud, name, group) ?? {};
    const { platformId, version, dirtySince, gsk, hold, paused } = item;
    linked.add(platformId);
    const { expiresAtMs = 0 } = (hold ?? {}) as { readonly expiresAtMs?: number };
    const agoMs = Math.min(
      cloud.nowMs() - Number(dirtySince),
      cloud.nowMs() - Number.parseInt(String(gsk ?? 0), 10),
    );
    const isStuck = paused !== true && agoMs > STUCK_MS;
    const isOver = hold !== undefined && expiresAtMs <= cloud.nowMs();
    const isAsLeft = platformId === undefined || held.get(String(platformId))?.version === version;
    if (isStuck || isOver || !isAsLeft || dirtySince !== undefined)
      found.push(`${group} ${isStuck ? cloud.nowMs() : dirtySince} ${isOver} ${isAsLeft}`);
  }
  for (const { id, spokeId } of held.values()) if (spokeId !== null && !linked.has(id)) found.push(id);
  return found;
}

/** By connection: while the table stays the same, no pump has work before this instant. */
type Rest = { readonly changes: number; readonly untilMs: number };
const RESTS = new WeakMap<Cloud, Map<string, Rest>>();

/** Walks, or groups that are due and may be written: those that wait for a person wait for no pump. */
function hasWorkForPump(connection: string, cloud: Cloud): boolean {
  const { table, nowMs } = cloud;
  const rests = RESTS.get(cloud) ?? new Map<string, Rest>();
  RESTS.set(cloud, rests);
  const rest = rests.get(connection);
  if (rest?.changes === table.changes() && nowMs() < rest.untilMs) return false;
  const isObserving = table.items.get(`C#${connection} CONNECTION`)?.['observing'] === true;
  let untilMs = Number.POSITIVE_INFINITY;
  for (const shard of SHARDS) {
    const first = (kind: string, pageSize: number) =>
      table.page({ partition: `${kind}#${connection}#${shard}`, index: true, pageSize }).items;
    if (first('walks', 1).length > 0) return true;
    for (const { gsk, paused } of isObserving ? [] : first('groups', 10)) {
      const dueMs = Number.parseInt(String(gsk), 10);
      if (paused !== true && dueMs <= nowMs()) return true;
      if (paused !== true && dueMs > nowMs()) untilMs = Math.min(untilMs, dueMs);
    }
  }
  rests.set(connection, { changes: table.changes(), untilMs });
  return false;
}
