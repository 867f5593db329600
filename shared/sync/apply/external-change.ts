import { createHash } from 'node:crypto';
import { DATED, type Difference, UNKNOWN_INITIATOR } from '../../domain/drift.ts';
import { FIELD_NAMES, GROUP_FIELDS } from '../../domain/group-fields.ts';
import type { GroupState, Intent, LinkedGroup, ViewPointer } from '../../domain/group-state.ts';
import { type Step, stepFrom } from '../../domain/history.ts';
import { intentId, type PlatformGroupId } from '../../domain/ids.ts';
import type { ObservedGroup, View } from '../../domain/view.ts';
import { attribute } from '../../plan/attribute.ts';
import { settlementOf } from '../../plan/decide/drift.ts';
import type { Decision, DriftOutcome, ObserveExternal } from '../../plan/decision.ts';
import { mayUnlink, UNLINKED_ALWAYS } from '../../plan/guard.ts';
import {
  changeByFetch,
  changeByWrite,
  type Findings,
  type KnownOutcome,
  outcomeFound,
} from '../../plan/transition.ts';
import { activityOf, attributeDrift } from '../attribute-drift.ts';
import { type AuditLink, type DriftRecord, entryOf, OURSELVES } from '../ports/logs.ts';
import { foundChanges, foundOf } from './audit.ts';
import type { ApplyContext, PassFacts, Performed } from './context.ts';
import { CONFLICT, SUPERSEDED, unlessSuperseded } from './context.ts';
import { learn } from './load.ts';

/** Ends an intent whose outcome a fetch showed. The group stays dirty, because the wanted state may have changed. */
export async function commitFound(
  intent: Intent,
  facts: PassFacts,
  context: ApplyContext,
  { happened, isRefused, platform, found, step }: FoundIntent,
): Promise<boolean> {
  const { ports, record } = context;
  const { state } = facts;
  const nowMs = ports.clock();
  const version = platform?.version ?? null;
  const changes = happened ? await foundChanges(intent, step, facts, context) : undefined;
  const audited = await record(state, foundOf(intent, nowMs, version, changes, step));
  const outcome = {
    ...outcomeFound(intent, state, platform, isRefused ? undefined : nowMs),
    found: { ...found, audited },
  };
  const committed = await ports.groups.commit(state.ref, {
    ...outcome,
    intent: intent.id,
    seen: state,
    change: changeByWrite(state, outcome),
    wakeAtMs: nowMs + ports.coalesceMs,
    unfinished: true,
    consumes: happened ? (intent.consumes ?? []) : found?.consumes,
  });
  return committed !== undefined;
}

interface FoundIntent extends Pick<KnownOutcome, 'platform' | 'found'> {
  readonly happened: boolean;
  readonly step: Step;
  readonly isRefused?: boolean;
}

/**
 * Records a step that a fetch showed: an uncertain write that took effect late, or else a change that groupsync did not
 * make, or the link to an existing platform group.
 */
export async function recordFound(
  { lateWrite, step, action = 'external_change' }: FoundStep,
  next: Pick<ObservedGroup, 'id' | 'version'> | undefined,
  facts: PassFacts,
  context: ApplyContext,
): Promise<AuditLink> {
  const { record, ports } = context;
  const { state } = facts;
  const versionAfter = next?.version ?? null;
  if (lateWrite !== undefined) {
    const changes = await foundChanges(lateWrite, step, facts, context);
    return record(state, foundOf(lateWrite, ports.clock(), versionAfter, changes, step));
  }
  const { link } = state;
  const change = { kind: action, before: link?.id ?? null, after: next?.id ?? null, reason: FETCHED };
  const versions = { versionBefore: link?.version ?? null, versionAfter };
  return record(state, {
    ...entryOf(action, [change], ports),
    ...versions,
    actor: OURSELVES,
    cause: FETCHED,
    step,
  });
}

interface FoundStep {
  readonly lateWrite: Intent | undefined;
  readonly step: Step;
  readonly action?: 'link' | 'external_change';
}

const FETCHED = 'a fetch showed the group';

/** Reads the views. The end of a link may be decided without them. */
export const withViews = async (facts: PassFacts, context: ApplyContext): Promise<PassFacts> =>
  facts.views === undefined ? learn({ kind: 'read', what: ['views'] }, facts, context) : facts;

/**
 * Records the external changes that a fetch or the answer to a write showed.
 * @returns undefined if another worker has written the group since `state` was read, because that write may be the
 * change
 */
export async function recordExternal(
  { external, observed }: ObserveExternal,
  state: GroupState,
  context: ApplyContext,
): Promise<Findings | undefined> {
  if (!(await isUnwrittenSince(state, context))) return undefined;
  return recordDrift(state, external.differences, observed.id as PlatformGroupId, context);
}

/**
 * Whether no other worker has written the group since `state` was read. Each worker opens an intent before it sends a
 * write, so this check finds every write that the fetch could show. Without the check, the write of another worker
 * would be recorded as an external change.
 */
async function isUnwrittenSince({ ref, link, intent }: GroupState, { ports }: ApplyContext) {
  const now = await ports.groups.read(ref);
  return now?.intent?.id === intent?.id && now?.link?.view.id === link?.view.id;
}

/** Returns the link to an observed group. Stores the view first, if `prepared` names no stored view. */
export async function linkTo(
  seen: GroupState,
  { id, version }: Pick<ObservedGroup, 'id' | 'version'>,
  view: View,
  { ports, showed }: ApplyContext,
  prepared?: ViewPointer,
): Promise<LinkedGroup> {
  showed({ id, version, atMs: ports.clock() });
  const pointer = prepared ?? (await ports.groups.prepareView(seen, intentId(ports.newId()), view));
  return { id: id as PlatformGroupId, version, view: pointer };
}

const UNLINKING_HELD = {
  code: 'missing_held',
  message: 'the platform answers 404 for too many groups: groupsync retries this group later',
};

/**
 * Ends the link to a group that is gone. The link stays if too many links have ended within an hour, or if the platform
 * shows the group again.
 */
export async function unlink(
  { id, difference, lateWrite }: Extract<Decision, { kind: 'unlink' }>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { ports, platform } = context;
  const { state } = facts;
  const { ref } = state;
  if (!(await recordUnlink(id, state, context)))
    return { result: { kind: 'wait', waitMs: undefined, why: UNLINKING_HELD } };
  if ((await platform.groups.get(id)) !== undefined) {
    await ports.guard.keepLink(ref.connection, id);
    return CONFLICT;
  }
  if (!(await isUnwrittenSince(state, context))) return SUPERSEDED;
  const findings = difference && (await recordDrift(state, [difference], id, context));
  const { views } = await withViews(facts, context);
  const step = stepFrom(state, views?.base, undefined, { sinceMs: facts.nowMs, external: 'all' });
  const audited = await recordFound({ lateWrite, step }, undefined, facts, context);
  const left = { ...findings, audited, isGone: true };
  return unlessSuperseded(ports.groups.storeObserved(state, changeByFetch(state, undefined, left)));
}

/**
 * Records one ended link, and returns whether the hourly limit allows it. The record is stored before the other records
 * are counted. So two concurrent workers never exceed the limit together, but both may have to wait.
 */
async function recordUnlink(
  id: PlatformGroupId,
  { ref: { connection } }: GroupState,
  { ports, connection: { company } }: ApplyContext,
): Promise<boolean> {
  const recent = await ports.guard.unlink(connection, id, ports.clock());
  if (recent < UNLINKED_ALWAYS) return true;
  const { length: links } = await ports.claims.claimedBy(company, connection);
  if (mayUnlink({ links, recent })) return true;
  await ports.guard.keepLink(connection, id);
  return false;
}

/**
 * Records external changes. `report` and `adopt` settle a record immediately, because the difference stays. `restore`
 * leaves the record open until apply has restored the group. The id of a record is computed from the view before the
 * change. So after a crash, the same change gets the same record. If another client makes the same change again after a
 * restoration, the repeated change gets a new record, even if the version is the same.
 */
async function recordDrift(
  state: GroupState,
  differences: readonly Difference[],
  platformId: PlatformGroupId,
  context: ApplyContext,
): Promise<Findings> {
  const { ports, connection, found } = context;
  const activityEvents = state.suspectedChange?.activityEvents ?? [];
  await attributeDrift(state, activityOf(state), ports);
  const nowMs = ports.clock();
  const records = differences.map((difference): DriftRecord => {
    const settledBy = settlementOf(difference, { state, settings: connection.settings });
    const isSettled = settledBy !== 'restore';
    return {
      ...difference,
      ...attribute(difference.kind, activityEvents),
      id: idOf(state, difference, platformId),
      group: state.ref.group,
      platformId,
      detectedAtMs: nowMs,
      settledBy: isSettled ? settledBy : null,
      settledAtMs: isSettled ? nowMs : null,
    };
  });
  const idsOf = (some: readonly DriftRecord[]) => some.map(({ id }) => id);
  // If no difference is left, an attempt that crashed may have stored records whose changes another client has undone.
  const lasting =
    differences.length > 0 ? [] : LASTING_KINDS.map((kind) => idOf(state, { kind }, platformId));
  const all = [...records, ...(await ports.drift.read(state.ref, lasting))];
  const noted = {
    openDrift: idsOf(all.filter(({ settledAtMs }) => settledAtMs === null)),
    unattributed: idsOf(records.filter(({ initiator }) => initiator === UNKNOWN_INITIATOR)),
  };
  for (const record of records) {
    if (await ports.drift.record(connection.name, record)) found(record.kind);
    else if (record.initiator !== UNKNOWN_INITIATOR)
      await ports.drift.attribute(state.ref, record.id, record);
  }
  return noted;
}

/** The kinds of differences that another client can undo. A deletion cannot be undone. */
const LASTING_KINDS = [
  ...FIELD_NAMES.map((field) => GROUP_FIELDS[field].drift),
  'members_added',
  'members_removed',
] as const;

function idOf({ ref, link }: GroupState, { kind }: Pick<Difference, 'kind'>, platformId: PlatformGroupId) {
  const view = link?.view.id;
  const parts = JSON.stringify([ref.group, platformId, view ?? null, kind]);
  const hash = createHash('sha256').update(parts).digest('hex').slice(0, 20);
  // View ids sort by time. So records sort by the time of the view before the change.
  return `${DATED}${(view ?? '').slice(0, 12).padStart(12, '0')}${hash}`;
}

/**
 * Closes the open drift records of a group. Apply has restored the group, or the changes stay because the group is no
 * longer managed. The caller must remove the records from the group's item after this function. So after a crash, this
 * function runs again, and a second run has no effect.
 */
export async function closeDrift(
  { openDrift, ref }: GroupState,
  { ports }: ApplyContext,
  by: Exclude<DriftOutcome, 'open'> = 'restore',
): Promise<void> {
  if (openDrift.length === 0) return;
  await ports.drift.settle(ref, openDrift, { by, atMs: ports.clock() });
}
