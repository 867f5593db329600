import { mayBeSamePerson, type Persons, uncertainPerson } from '../contract/person.ts';
import type { GroupState } from '../domain/group-state.ts';
import { HOLD_LIFE_MS, type Hold, type HoldDecision } from '../domain/hold.ts';
import type { ConnectionName, GroupId, GroupRef, PlatformUserId } from '../domain/ids.ts';
import { authorsOf, type EarlierAction } from '../plan/approval.ts';
import { type HeldRemovals, isOver } from '../plan/hold.ts';
import { compareText } from '../plan/plan.ts';
import { holdDigest } from '../sync/apply/load.ts';
import { collectPages } from '../sync/async-collections.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connections } from '../sync/ports/connections.ts';
import type { AllOrNone, HoldOutcome, PartRejected } from '../sync/ports/decisions.ts';
import type { Dirty } from '../sync/ports/desired.ts';
import type { HeldSet } from '../sync/ports/guard.ts';
import { dirtyNow } from '../sync/wake.ts';
import { causesOf } from './held-members.ts';
import { doRecorded, type JournalPorts, journalOf } from './journal.ts';
import { type NamesPorts, plural } from './names.ts';
import { Refused } from './refused.ts';

export type HoldPorts = JournalPorts &
  NamesPorts &
  Pick<ToolPorts, 'applyQueue' | 'coalesceMs' | 'audit'> & {
    readonly connections: Pick<Connections, 'find'>;
    /** The persons behind AWS identities, from the settings of the stage. */
    readonly persons?: Persons;
  };

/** An operator's decision, stored with the hold and in the audit log together with the operator's name. */
export interface HoldRequest {
  readonly reason: string;
  /**
   * Identifies the removals that the operator was shown. The decision covers only these, because the hold may contain
   * more by now.
   */
  readonly digest?: string | undefined;
  /**
   * If the hold was decided before: the earlier decision that the operator was shown and now changes. Without it, only
   * a waiting hold can be decided.
   */
  readonly decision?: HoldDecision | undefined;
}

/**
 * Permits the removals of a hold, or the deletion of the group, within seven days. Apply is woken and writes the
 * removals that are still wanted. This write uses up the approval. Removals that have joined the hold since the
 * operator read it are checked by the guard again.
 */
export const approveHold = (ref: GroupRef, request: HoldRequest, ports: HoldPorts): Promise<HoldOutcome> =>
  decide(ref, 'approved', request, ports);

/** Forbids the removals of a hold until they are no longer wanted. */
export const rejectHold = (ref: GroupRef, request: HoldRequest, ports: HoldPorts): Promise<HoldOutcome> =>
  decide(ref, 'rejected', request, ports);

/**
 * Rejects the removals of these users, which must be all removals of the hold. A group stores only one decision for its
 * hold, and the guard judges removals outside a rejected hold again. So if only a part were rejected, the guard could
 * permit the others without a decision.
 * @param request has the digest of the whole set that the operator was shown
 */
export async function rejectSome(
  ref: GroupRef,
  users: readonly PlatformUserId[],
  request: HoldRequest,
  ports: HoldPorts,
): Promise<HoldOutcome | PartRejected> {
  const seen = await ports.groups.read(ref);
  const hold = seen?.hold;
  if (seen === undefined || hold === undefined) return { kind: 'no_hold' };
  if (hold.digest !== request.digest) return { kind: 'changed', hold };
  const all = (await ports.groups.readHeld(ref, hold)) ?? new Set();
  const chosen = new Set(users);
  if (chosen.size === all.size && users.every((user) => all.has(user)))
    return rejectHold(ref, request, ports);
  return { kind: 'rejects_part' };
}

/**
 * Approves only the removals of these users. One write stores the approval and the hold of the other removals, so these
 * are held at every moment. They stay held until an operator decides, even if they are below the limits.
 * @param request has the digest of the whole set that the operator was shown
 */
export async function approveSome(
  ref: GroupRef,
  users: readonly PlatformUserId[],
  request: HoldRequest,
  ports: HoldPorts,
): Promise<HoldOutcome | AllOrNone> {
  const seen = await ports.groups.read(ref);
  const hold = seen?.hold;
  if (seen === undefined || hold === undefined) return { kind: 'no_hold' };
  const all = (await ports.groups.readHeld(ref, hold)) ?? new Set();
  const isAsShown = hold.digest === request.digest && hold.decision.kind === 'waiting';
  if (!isAsShown || !users.every((user) => all.has(user))) return { kind: 'changed', hold };
  await refuseAuthors(seen, hold, ports);
  if (all.size === users.length) return approveHold(ref, request, ports);
  if (hold.afterRejection) return { kind: 'all_or_none', why: 'some_were_rejected' };
  if (hold.digest !== holdDigest(seen.link?.id, 'remove', [...all]))
    return { kind: 'all_or_none', why: 'group_is_deleted' };
  const before = await approvedBefore(seen, ports);
  const size = hold.removes + hold.keeps + before.size;
  const part = (some: Iterable<PlatformUserId>) => {
    const set = new Set(some);
    const digest = holdDigest(seen.link?.id, 'remove', [...set]);
    return { hold: { ...hold, digest, removes: set.size, share: set.size / size }, users: set };
  };
  const rest = part([...all].filter((user) => !users.includes(user)));
  const approval = part([...before, ...users]);
  const keeps = (some: HeldRemovals) => ({ ...some.hold, keeps: size - some.users.size });
  const write = ({ decision, expiresAtMs }: Hold, at: Dirty) => {
    const approved = { ...approval, hold: { ...keeps(approval), decision, expiresAtMs } };
    return ports.groups.approvePart(seen, { hold: rest, approval: approved }, at);
  };
  const given = { kind: 'approved', reason: request.reason, write, storedAs: 'approval' } as const;
  return carryOut(ref, keeps(part(users)), given, ports);
}

/** Returns the users whose removal was approved earlier, next to the hold, and has not been written yet. */
async function approvedBefore(
  { ref, approval, link }: GroupState,
  { groups, clock }: HoldPorts,
): Promise<HeldSet> {
  const users = approval && !isOver(approval, clock()) ? await groups.readHeld(ref, approval) : undefined;
  const isOfThis = users && holdDigest(link?.id, 'remove', [...users]) === approval?.digest;
  return isOfThis ? users : new Set();
}

export interface HeldGroup {
  readonly group: GroupId;
  readonly hold: Hold;
}

/** Every hold of a connection, including decided holds and approved parts, in the order of the groups' ids. */
export async function listHolds(connection: ConnectionName, ports: Pick<ToolPorts, 'groups' | 'index'>) {
  const held: HeldGroup[] = [];
  for (const { ref, holdWaits } of await collectPages(ports.index.all(connection))) {
    const { hold, approval } = (holdWaits ? await ports.groups.read(ref) : undefined) ?? {};
    for (const one of [hold, approval]) if (one !== undefined) held.push({ group: ref.group, hold: one });
  }
  return held.sort((a, b) => compareText(a.group, b.group));
}

/**
 * Stores the decision, raises rev and marks the group dirty in one conditional write, so it does not matter if the
 * message after it is lost. If the hold was decided meanwhile, the write fails, so a decision from an outdated page has
 * no effect.
 */
async function decide(
  ref: GroupRef,
  kind: 'approved' | 'rejected',
  request: HoldRequest,
  ports: HoldPorts,
): Promise<HoldOutcome> {
  const { reason, digest } = request;
  const seen = await ports.groups.read(ref);
  const current = seen?.hold;
  if (seen === undefined || current === undefined) return { kind: 'no_hold' };
  const isAsShown = isSameDecision(current.decision, request.decision ?? { kind: 'waiting' });
  const hold = isAsShown ? await holdShown(seen, current, digest ?? current.digest, ports) : undefined;
  if (hold === undefined) return { kind: 'changed', hold: current };
  if (kind === 'approved') await refuseAuthors(seen, hold, ports);
  const write = (decided: Hold, at: Dirty) => ports.groups.decideHold(seen, decided, at);
  return carryOut(ref, hold, { kind, reason, write, storedAs: 'hold' }, ports);
}

interface Given {
  readonly kind: 'approved' | 'rejected';
  readonly reason: string;
  readonly write: (decided: Hold, at: Dirty) => Promise<boolean>;
  /** The field of the group that stores the decision. */
  readonly storedAs: 'hold' | 'approval';
}

/** Records a decision about these removals, stores it and wakes the group. */
async function carryOut(
  ref: GroupRef,
  hold: Hold,
  { kind, reason, write, storedAs }: Given,
  ports: HoldPorts,
): Promise<HoldOutcome> {
  const at = dirtyNow(ports);
  const { id: by } = await ports.caller();
  const decision: HoldDecision = { kind, by, reason, atMs: at.nowMs };
  const decided = { ...hold, decision, expiresAtMs: at.nowMs + HOLD_LIFE_MS };
  const about = `${plural(hold.removes, 'removal')}, digest ${hold.digest}`;
  const change = { kind: 'decide_hold', before: hold.decision.kind, after: kind, reason: about };
  const action = kind === 'approved' ? 'holds_approve' : 'holds_reject';
  const recorded = { action, changes: [change], reason };
  let now: Hold | undefined = decided;
  const act = async () => {
    if (await write(decided, at)) return true;
    // If the answer was lost and the SDK repeated the request, the write fails although the hold has this decision.
    now = (await ports.groups.read(ref))?.[storedAs];
    return now !== undefined && isSameDecision(now.decision, decision);
  };
  if (!(await doRecorded(ref, recorded, ports, act))) return { kind: 'changed', hold: now };
  await ports.applyQueue.wake([ref]);
  return { kind: 'decided', hold: decided };
}

/** The longest time between a cause and its hold: a hold starts soon after it, and again when it has expired. */
const LOOKED_BACK_MS = HOLD_LIFE_MS + 86_400_000;

/** @throws Refused if the caller caused the hold, and the connection requires four eyes now or did when the hold was made */
async function refuseAuthors(state: GroupState, hold: Hold, ports: HoldPorts): Promise<void> {
  const { connection } = state.ref;
  const isAskedNow = (await ports.connections.find(connection))?.settings.fourEyes;
  if (!isAskedNow && !hold.fourEyes) return;
  const actions = await actionsBefore(hold, connection, ports);
  const causes = await causesOf(state, hold, ports);
  const authors = authorsOf(causes, actions);
  const { id: caller } = await ports.caller();
  const { persons = {} } = ports;
  const own = [...authors].find((author) => mayBeSamePerson(author, caller, persons));
  if (own === undefined) return;
  const uncertain = uncertainPerson(own, caller, persons);
  if (uncertain !== undefined) throw new Refused(`nothing was changed: ${own} caused the hold. ${uncertain}`);
  throw new Refused(
    `nothing was changed: your action caused the hold, and ${connection} requires a second approver (setting fourEyes). An operator other than ${[...new Set([caller, ...authors])].join(' or ')} must approve it`,
  );
}

/** Returns the actions of operators, newest first, in the period in which the cause of a hold must be. */
async function actionsBefore({ createdAtMs }: Hold, connection: ConnectionName, { audit }: HoldPorts) {
  const actions: EarlierAction[] = [];
  for await (const page of audit.read(journalOf(connection))) {
    for (const { atMs, action, actor, outcome } of page) {
      if (atMs < createdAtMs - LOOKED_BACK_MS) return actions;
      if (atMs <= createdAtMs && outcome === 'written') actions.push({ action, by: actor.id });
    }
  }
  return actions;
}

/** Returns the hold with this digest: the current one, or the smaller one from before other removals joined it. */
async function holdShown(
  { ref, link }: GroupState,
  current: Hold,
  digest: string,
  { groups }: HoldPorts,
): Promise<Hold | undefined> {
  if (digest === current.digest) return current;
  if (current.afterRejection) return undefined;
  const { users, ...where } = await groups.findHeld(ref, digest);
  const all = await groups.readHeld(ref, current);
  const removes = users.size;
  const isPart = all !== undefined && [...users].every((user) => all.has(user));
  if (!isPart || holdDigest(link?.id, 'remove', [...users]) !== digest) return undefined;
  const size = current.removes + current.keeps;
  return { ...current, ...where, digest, removes, keeps: size - removes, share: removes / size };
}

function isSameDecision(a: HoldDecision, b: HoldDecision): boolean {
  if (a.kind === 'waiting' || b.kind === 'waiting') return a.kind === b.kind;
  return a.kind === b.kind && a.by === b.by && a.atMs === b.atMs;
}
