import pMap from 'p-map';
import type { PlatformGroupId, VersionToken } from '../../domain/ids.ts';
import type { Connection } from '../ports/connections.ts';
import type { GroupState } from '../ports/groups.ts';
import type { Platform } from '../ports/platform.ts';
import { READS_IN_FLIGHT, WAKE_GRACE_MS, WRITES_IN_FLIGHT } from '../tuning.ts';
import type { ReconcilePorts } from './ports.ts';

/** Who touched a platform group, as the feed told it. */
export interface Touch {
  readonly initiator: string;
  readonly eventIds: readonly string[];
}

export interface Suspicions {
  readonly echoes: number;
  readonly suspected: number;
}

/** Up to here groups are read one by one; past it one listing is cheaper, and kinder to the platform. */
const FEW = 20;

/**
 * Compares versions, nothing else: a version that is ours is the echo of our own write and costs nothing more. Any
 * other makes the group suspect, with rev and dirty in the same write; apply looks and finds out what it means.
 * Platform groups that nobody claimed are not ours to touch (invariant 6).
 */
export async function suspectTouched(
  connection: Connection,
  touched: ReadonlyMap<PlatformGroupId, Touch>,
  { platform, ports }: { readonly platform: Platform; readonly ports: ReconcilePorts },
): Promise<Suspicions> {
  const owners = await ports.claims.owners(connection.company, [...touched.keys()]);
  const mine = [...owners].filter(([, owner]) => owner.connection === connection.name);
  if (mine.length === 0) return { echoes: 0, suspected: 0 };
  const versions = await versionsOf(
    mine.map(([id]) => id),
    platform,
  );
  const states = await ports.groups.readMany(mine.map(([, ref]) => ref));
  const suspects = states.filter(({ platformId, version }) => {
    const seen = platformId === undefined ? undefined : versions.get(platformId);
    return platformId !== undefined && touched.has(platformId) && seen !== version;
  });
  await markSuspects(suspects, ports, (state) => ({
    version: versions.get(state.platformId as PlatformGroupId) ?? null,
    ...(touched.get(state.platformId as PlatformGroupId) as Touch),
  }));
  return { echoes: states.length - suspects.length, suspected: suspects.length };
}

/** Versions as the platform shows them now; a group that it does not know is left out. */
async function versionsOf(
  ids: readonly PlatformGroupId[],
  platform: Platform,
): Promise<ReadonlyMap<PlatformGroupId, VersionToken>> {
  if (ids.length > FEW) {
    const listed = await platform.groups.list(0);
    return new Map(listed.map(({ id, version }) => [id as PlatformGroupId, version]));
  }
  const read = await pMap(ids, async (id) => [id, await platform.groups.get(id)] as const, {
    concurrency: READS_IN_FLIGHT,
  });
  return new Map(read.flatMap(([id, group]) => (group === undefined ? [] : [[id, group.version] as const])));
}

/** Marks, then wakes: a mark whose message is lost is found by the pump. */
export async function markSuspects(
  states: readonly GroupState[],
  ports: ReconcilePorts,
  suspicionOf: (state: GroupState) => Touch & { readonly version: VersionToken | null },
): Promise<void> {
  const nowMs = ports.clock();
  await pMap(
    states,
    (state) =>
      ports.groups.suspect(
        state.ref,
        { ...suspicionOf(state), atMs: nowMs },
        { nowMs, dueMs: nowMs + ports.coalesceMs + WAKE_GRACE_MS },
      ),
    { concurrency: WRITES_IN_FLIGHT },
  );
  const unsent = await ports.applyQueue.wake(states.map(({ ref }) => ref));
  if (unsent.length > 0) throw new Error(`the apply queue did not accept ${unsent.length} messages`);
}
