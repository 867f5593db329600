import type { ConnectionName } from '../../domain/ids.ts';
import type { Ports } from '../ports/bundles.ts';
import type { Connection, Health } from '../ports/connections.ts';
import type { GroupIndex } from '../ports/group-index.ts';
import { failureIn } from '../ports/platform.ts';

/** How things stand with one connection: what alarms and the dashboard look at each minute. */
export interface Levels {
  readonly dirtyGroups: number;
  readonly oldestDirtySeconds: number;
  readonly holdsWaiting: number;
  readonly pendingMembers: number;
  /** 0 while open, or paused by a person. */
  readonly gateClosedSeconds: number;
  readonly unauthorized: boolean;
  /** undefined before the feed was first read to its end. */
  readonly feedCursorAgeSeconds?: number;
  /** Since the credential was last found good; undefined before the first check that went well. */
  readonly credentialUncheckedSeconds?: number;
}

export async function readLevels(
  connection: ConnectionName,
  ports: Pick<Ports, 'index' | 'gates' | 'feed' | 'health' | 'clock'>,
): Promise<Levels> {
  const nowMs = ports.clock();
  const groups = await countGroups(connection, ports.index, nowMs);
  let pendingMembers = 0;
  for await (const page of ports.index.pending(connection)) pendingMembers += page.length;
  const gate = await ports.gates.read(connection);
  const isClosed = gate.state === 'backoff' || gate.state === 'unauthorized';
  const feed = await ports.feed.read(connection);
  const goodAtMs = (await ports.health.read(connection))?.goodAtMs;
  return {
    ...groups,
    pendingMembers,
    gateClosedSeconds: isClosed ? seconds(nowMs - (gate.sinceMs ?? nowMs)) : 0,
    unauthorized: gate.state === 'unauthorized',
    ...(feed === undefined ? {} : { feedCursorAgeSeconds: seconds(nowMs - feed.readAtMs) }),
    ...(goodAtMs === undefined ? {} : { credentialUncheckedSeconds: seconds(nowMs - goodAtMs) }),
  };
}

async function countGroups(connection: ConnectionName, index: GroupIndex, nowMs: number) {
  let dirtyGroups = 0;
  let oldestDirtySeconds = 0;
  let holdsWaiting = 0;
  for await (const page of index.all(connection)) {
    for (const { dirtySinceMs, holdUndecided } of page) {
      if (holdUndecided) holdsWaiting += 1;
      if (dirtySinceMs === undefined) continue;
      dirtyGroups += 1;
      oldestDirtySeconds = Math.max(oldestDirtySeconds, seconds(nowMs - dirtySinceMs));
    }
  }
  return { dirtyGroups, oldestDirtySeconds, holdsWaiting };
}

const seconds = (ms: number): number => Math.max(0, Math.round(ms / 1_000));

export type HealthPorts = Pick<Ports, 'platforms' | 'health' | 'clock'>;

/**
 * Uses the credential once a day (`/me`), because customer API keys expire when nobody does, and because a company
 * without changes should learn of a revoked one before the first change is lost on it.
 */
export async function checkHealth(connection: Connection, ports: HealthPorts): Promise<Health> {
  const known = await ports.health.read(connection.name);
  const failure = await failureIn(async () => {
    const found = await (await ports.platforms.open(connection)).probe();
    if (found !== undefined) throw found;
  });
  const nowMs = ports.clock();
  const health: Health =
    failure === undefined
      ? { ...known, checkedAtMs: nowMs, goodAtMs: nowMs }
      : { ...known, checkedAtMs: nowMs, lastFailure: { atMs: nowMs, message: failure.message } };
  await ports.health.write(connection.name, health);
  return health;
}
