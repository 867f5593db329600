import type { PlatformGroupId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View } from '../../domain/view.ts';
import { foldName, renamedTo } from '../../plan/names.ts';
import type { GroupState, Intent } from '../ports/groups.ts';
import type { GuardRecord } from '../ports/guard.ts';
import { CREATE_MISSES } from '../tuning.ts';
import { auditFound } from './audit-entry.ts';
import { hasLostSpokeId, takeForeignChange } from './foreign-change.ts';
import type { Lane } from './lane.ts';
import { linkTo, shows, viewOf } from './observed.ts';

/** What became of an intent whose outcome was not known. */
export type Settlement =
  /** It is settled, one way or the other (`unseen`: the group itself is not there): read it again and go on. */
  | { readonly kind: 'settled'; readonly happened: boolean | 'conflict' | 'unseen' }
  /** A created group is not to be seen yet: look again after this many milliseconds. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** Another worker settled it first. */
  | { readonly kind: 'overtaken' };

/** What the caller knows of the write beside its intent. */
interface Known {
  /** The platform answered that it would not do it. */
  readonly wasRejected?: boolean;
  /** Removals in the guard's book that may happen all the same; those of the intent itself unless it says otherwise. */
  readonly yet?: GuardRecord | undefined;
}

/**
 * Settles an open intent by its own name, spokeId and users, whatever the directory wants by now.
 *
 *     the platform shows            | create          | patch, put | delete
 *     ------------------------------|-----------------|------------|--------------
 *     what the intent would make    | it happened     | happened   | –
 *     the version from before       | –               | did not    | did not
 *     something else                | –               | conflict   | did not
 *     nothing (404, not listed)     | three misses    | unseen     | it happened
 */
export async function settleIntent(
  state: GroupState,
  intent: Intent,
  lane: Lane,
  known: Known = {},
): Promise<Settlement> {
  if (intent.action === 'create') return settleCreation(state, intent, lane);
  const observed = await lane.platform.groups.get(intent.platformId as PlatformGroupId);
  if (intent.action === 'delete') {
    return observed === undefined ? confirmGone(state, intent, lane) : didNotHappen(state, intent, lane);
  }
  if (observed === undefined) {
    const settlement = await didNotHappen(state, intent, lane, known);
    return settlement.kind === 'settled' ? { kind: 'settled', happened: 'unseen' } : settlement;
  }
  if (observed.version === intent.versionBefore) return didNotHappen(state, intent, lane, known);
  return confirm(state, intent, { observed, lane, known });
}

async function settleCreation(state: GroupState, intent: Intent, lane: Lane): Promise<Settlement> {
  const { ports, platform, connection } = lane;
  const prepared = await readPrepared(state, intent, lane);
  const listed = await platform.groups.list(0);
  for (const group of listed) {
    const observed = isWhole(group) ? group : await wholeOf(group, intent, lane);
    if (observed === undefined || !isOurCreation(observed, intent, prepared)) continue;
    const id = observed.id as PlatformGroupId;
    if (await ports.claims.claim(connection.company, id, state.ref)) {
      return confirm(state, intent, { observed, lane });
    }
  }
  const misses = (intent.misses ?? 0) + 1;
  const waitedMs = ports.clock() - intent.atMs;
  if (misses >= CREATE_MISSES && waitedMs >= ports.createSettleMs) return didNotHappen(state, intent, lane);
  const noted = await ports.groups.noteMiss(state.ref, { ...intent, misses });
  return noted
    ? { kind: 'wait', ms: Math.ceil(ports.createSettleMs / CREATE_MISSES) }
    : { kind: 'overtaken' };
}

/** An odd group that may be ours is asked for by id: while it cannot be read, the creation stays unsettled. */
async function wholeOf(
  { id, spokeId }: ListedGroup,
  { known, spokeId: ours }: Intent,
  { platform }: Lane,
): Promise<ObservedGroup | undefined> {
  const isTheirs = known?.includes(id as PlatformGroupId) || (spokeId !== null && spokeId !== ours);
  return isTheirs ? undefined : platform.groups.get(id as PlatformGroupId);
}

/**
 * By spokeId; where the platform does not echo it, by name and users: it may have added some to those that we sent.
 * Groups that were there before are not it.
 */
function isOurCreation(observed: ObservedGroup, intent: Intent, prepared: View | undefined): boolean {
  if (intent.known?.includes(observed.id as PlatformGroupId)) return false;
  if (observed.spokeId !== null) return observed.spokeId === intent.spokeId;
  if (prepared === undefined || foldName(observed.name) !== foldName(prepared.name)) return false;
  const shown = new Set(observed.users);
  const hasAll = [...prepared.users.keys()].every((user) => shown.has(user));
  return hasAll && (prepared.users.size > 0 || shown.size === 0);
}

/** What the write would have made, with what the platform makes of a name that it sent, or adds to a new group. */
function asMade(
  prepared: View | undefined,
  observed: ObservedGroup,
  { intent, base }: { readonly intent: Intent; readonly base: View | undefined },
): View | undefined {
  if (prepared === undefined) return undefined;
  const isNameSent = base?.name !== prepared.name && foldName(prepared.name) === foldName(observed.name);
  const made = isNameSent ? renamedTo(prepared, observed) : prepared;
  if (intent.action !== 'create') return made;
  return { ...made, users: new Map([...viewOf(observed, prepared).users, ...prepared.users]) };
}

const readPrepared = async (state: GroupState, intent: Intent, { ports }: Lane): Promise<View | undefined> =>
  intent.view === undefined ? undefined : ports.groups.readView(state.ref, intent.view);

/**
 * The guard's record stays: that a look did not find the write says nothing of a request that is still on its way. No
 * more than one of two writes from the same version can succeed, so the next one takes the record over.
 */
async function didNotHappen(
  state: GroupState,
  intent: Intent,
  { ports }: Lane,
  known: Known = {},
): Promise<Settlement> {
  const yet = 'yet' in known ? known.yet : intent.reserved;
  const dropped = await ports.groups.dropIntent(state.ref, intent, yet);
  return dropped ? { kind: 'settled', happened: false } : { kind: 'overtaken' };
}

/** The group is left dirty: what the directory wants now may be something else again. */
async function confirm(
  state: GroupState,
  intent: Intent,
  {
    observed,
    lane,
    known = {},
  }: { readonly observed: ObservedGroup; readonly lane: Lane; readonly known?: Known },
): Promise<Settlement> {
  const { ports } = lane;
  const base = state.view === undefined ? undefined : await ports.groups.readView(state.ref, state.view);
  const prepared = asMade(await readPrepared(state, intent, lane), observed, { intent, base });
  const happened =
    prepared !== undefined && shows(observed, prepared) && !(await hasLostSpokeId(observed, prepared, lane));
  // What a refused write would have added is nobody's but theirs, where it is there all the same.
  const ours = known.wasRejected && !happened ? [base] : [base, prepared];
  const foreign = happened ? undefined : await takeForeignChange(state, observed, { ours, intent, lane });
  if (!happened && foreign === undefined) return { kind: 'overtaken' };
  const view = foreign?.view ?? viewOf(observed, ...ours);
  const platform = await linkTo(state, observed, { view, lane });
  const nowMs = ports.clock();
  await ports.audit.record(state.ref, auditFound(intent, { nowMs, version: observed.version, happened }));
  const flipped = await ports.groups.flip(state.ref, {
    intent: intent.id,
    seen: state,
    nowMs,
    platform,
    settled: 'in_sync',
    counts: state.counts ?? { wanted: 0, applied: 0, pending: 0 },
    unfinished: true,
    ...(foreign === undefined ? {} : { found: foreign.found }),
    ...(happened && intent.consumes !== undefined ? { consumedHold: intent.consumes } : {}),
    ...(intent.action === 'create' ? { createdAtMs: intent.atMs } : {}),
  });
  if (flipped === undefined) return { kind: 'overtaken' };
  return { kind: 'settled', happened: happened ? true : 'conflict' };
}

async function confirmGone(state: GroupState, intent: Intent, lane: Lane): Promise<Settlement> {
  const { ports, connection } = lane;
  const nowMs = ports.clock();
  await ports.audit.record(state.ref, auditFound(intent, { nowMs, version: null, happened: true }));
  const flipped = await ports.groups.flip(state.ref, {
    intent: intent.id,
    seen: state,
    nowMs,
    settled: 'deleted',
    counts: { wanted: 0, applied: 0, pending: 0 },
    unfinished: true,
    ...(intent.consumes === undefined ? {} : { consumedHold: intent.consumes }),
  });
  if (flipped === undefined) return { kind: 'overtaken' };
  if (intent.platformId !== undefined) {
    await ports.claims.drop(connection.company, intent.platformId, state.ref);
  }
  return { kind: 'settled', happened: true };
}
