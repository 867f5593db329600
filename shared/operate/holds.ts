import { isOfConsole, mayBeSamePerson, type Persons, uncertainPerson } from '../contract/person.ts';
import type { GroupState } from '../domain/group-state.ts';
import {
  HOLD_LIFETIME_MS,
  type Hold,
  type HoldDecision,
  holdsOf,
  MOST_SETS,
  REJECTION_LIFETIME_MS,
  type RemovalSet,
} from '../domain/hold.ts';
import type { ConnectionName, GroupId, GroupRef, PlatformUserId } from '../domain/ids.ts';
import { authorsOf, type EarlierAction, type HeldCause } from '../plan/approval.ts';
import { compareText } from '../plan/plan.ts';
import { partOf } from '../plan/removals.ts';
import { holdDigest, isSameDecision, seal } from '../sync/apply/hold.ts';
import type { PreviewPorts } from '../sync/apply/preview.ts';
import type { ConnectionStore, ToolPorts } from '../sync/ports/bundles.ts';
import type { DecidedHold, HoldOutcome } from '../sync/ports/decisions.ts';
import type { HeldSet } from '../sync/ports/guard.ts';
import { AUDIT_LIFETIME_MS, type AuditEntry, entriesSince } from '../sync/ports/logs.ts';
import { collectPages } from '../sync/tuning.ts';
import { dirtyNow } from '../sync/wake.ts';
import { causesOf } from './held-members.ts';
import { doRecorded, type JournalPorts, journalOf, recordAction, withGroupsBefore } from './journal.ts';
import { plural, Refused } from './names.ts';

export type HoldPorts = JournalPorts &
  PreviewPorts &
  Pick<ToolPorts, 'groups' | 'applyQueue' | 'coalesceMs' | 'audit' | 'reader' | 'tokens'> & {
    readonly connections: Pick<ConnectionStore, 'find'>;
    readonly persons?: Persons;
  };

/** An operator's decision. It is stored with the removals, and in the audit log with the operator's name. */
interface HoldRequest {
  readonly reason: string;
  /**
   * Identifies the removals that the operator was shown. The decision covers only these removals, because the hold may
   * now contain more.
   */
  readonly digest?: string | undefined;
  /**
   * The earlier decision that the operator was shown and now changes. Without it, only a waiting hold can be decided.
   */
  readonly decision?: HoldDecision | undefined;
  /** Whether the caller is an administrator of the console, which the console checks. */
  readonly isAdministrator?: boolean | undefined;
  /** The removals to decide. If they are absent, all removals that the operator was shown are decided. */
  readonly users?: readonly PlatformUserId[] | undefined;
}

/**
 * Permits removals of a hold, or the deletion of the group, within seven days. Apply is woken and writes the removals.
 * This write ends the approval. The other removals of the hold still wait.
 */
export const approveHold = (ref: GroupRef, request: HoldRequest, ports: HoldPorts): Promise<DecidedHold> =>
  decide(ref, 'approved', request, ports);

/** Stops removals of a hold for a year, or until the directory no longer wants them. The other removals still wait. */
export const rejectHold = (ref: GroupRef, request: HoldRequest, ports: HoldPorts): Promise<DecidedHold> =>
  decide(ref, 'rejected', request, ports);

export interface HeldGroup {
  readonly group: GroupId;
  readonly hold: Hold;
}

export async function listHolds(connection: ConnectionName, ports: Pick<ToolPorts, 'groups' | 'index'>) {
  const held: HeldGroup[] = [];
  for (const { ref, hasHolds } of await collectPages(ports.index.all(connection))) {
    const state = hasHolds ? await ports.groups.read(ref) : undefined;
    for (const hold of holdsOf(state ?? {})) held.push({ group: ref.group, hold });
  }
  return held.sort((a, b) => compareText(a.group, b.group));
}

type Kind = Exclude<HoldDecision['kind'], 'waiting'>;

/**
 * One conditional write replaces the list of removals. The write fails if the list has changed, so a decision from an
 * outdated page has no effect. If the message after the write is lost, the requeue job wakes the group.
 */
async function decide(
  ref: GroupRef,
  kind: Kind,
  request: HoldRequest,
  ports: HoldPorts,
): Promise<DecidedHold> {
  const seen = await ports.groups.read(ref);
  if (seen === undefined || holdsOf(seen).length === 0) return { kind: 'no_hold' };
  const asShown = request.decision ?? { kind: 'waiting' };
  const sameDecision = holdsOf(seen).filter(({ decision }) => isSameDecision(decision, asShown));
  const current = sameDecision.find(({ digest }) => digest === request.digest) ?? sameDecision[0];
  const chosen = current && (await choose(seen, current, request, ports));
  if (chosen === undefined) {
    const withDigest = holdsOf(seen).find(({ digest }) => digest === request.digest);
    return { kind: 'changed', hold: withDigest ?? current ?? holdsOf(seen)[0] };
  }
  if (kind === 'approved') await refuseAuthors(seen, chosen, request, ports);
  if (chosen.current.deletes && chosen.users.size < chosen.all.size) return { kind: 'all_or_none' };
  return carryOut(seen, { kind, reason: request.reason, chosen }, ports);
}

interface Chosen {
  readonly current: Hold;
  readonly all: HeldSet;
  readonly users: HeldSet;
}

/**
 * Returns the removals that the operator decides; undefined if they are no longer in the set. The set may also contain
 * removals that were added after the operator was shown it.
 */
async function choose(
  state: GroupState,
  current: Hold,
  { digest = current.digest, users }: HoldRequest,
  { groups }: HoldPorts,
): Promise<Chosen | undefined> {
  const all = await groups.readHeld(state.ref, current);
  const shown = digest === current.digest ? all : await groups.findHeld(state.ref, digest);
  if (all === undefined || shown === undefined) return undefined;
  const isShown = shown === all || holdDigest(current, shown) === digest;
  const chosen = users === undefined ? shown : new Set(users);
  const isIn = [...chosen].every((user) => all.has(user) && shown.has(user));
  const isSome = chosen.size > 0 || all.size === 0;
  return isShown && isIn && isSome ? { current, all, users: chosen } : undefined;
}

interface Given {
  readonly kind: Kind;
  readonly reason: string;
  readonly chosen: Chosen;
}

async function carryOut(state: GroupState, given: Given, ports: HoldPorts): Promise<HoldOutcome> {
  const { ref } = state;
  const { kind, reason, chosen } = given;
  const at = dirtyNow(ports);
  const { id: by } = await ports.caller();
  const decision: HoldDecision = { kind, by, reason, atMs: at.nowMs };
  const lifetimeMs = kind === 'rejected' ? REJECTION_LIFETIME_MS : HOLD_LIFETIME_MS;
  const { decided, rest } = setsAfter(given);
  const { hold: part } = decided;
  const hold = { ...part, decision, expiresAtMs: at.nowMs + lifetimeMs };
  const others = holdsOf(state).filter((one) => one !== chosen.current);
  const sets = [...rest, ...others.map((one) => ({ hold: one, users: undefined })), { ...decided, hold }];
  if (sets.length > MOST_SETS)
    throw new Refused(
      `nothing was changed: ${ref.group} has ${others.length} decisions about removals, and at most ${MOST_SETS} fit. Decide all remaining removals together`,
    );
  const about = `${plural(part.removes, 'removal')}, digest ${part.digest}`;
  const change = { kind: 'decide_hold', before: chosen.current.decision.kind, after: kind, reason: about };
  const action = kind === 'approved' ? 'holds_approve' : 'holds_reject';
  const act = () => ports.groups.decideRemovals(state, sets, at);
  if (!(await doRecorded(ref, { action, changes: [change], reason }, ports, act)))
    return { kind: 'changed', hold: holdsOf((await ports.groups.read(ref)) ?? {})[0] };
  await ports.applyQueue.wake([ref]);
  return { kind: 'decided', hold };
}

/**
 * Returns the decided removals, and the set of the removals that are not decided now. Approved removals are not counted
 * in `keeps`.
 */
function setsAfter({ kind, chosen }: Given): { decided: RemovalSet; rest: readonly RemovalSet[] } {
  const { current, all, users } = chosen;
  const set = { hold: current, users: all };
  const others = new Set([...all].filter((user) => !users.has(user)));
  if (others.size === 0) return { decided: set, rest: [] };
  const rest = partOf(set, others);
  const restKeeps = kind === 'approved' ? current.keeps : rest.hold.keeps;
  return {
    decided: seal(partOf(set, users)),
    rest: [seal({ ...rest, hold: { ...rest.hold, keeps: restKeeps } })],
  };
}

/** Actions of at least this time before a hold may have caused it. */
const LOOKED_BACK_MS = 8 * 86_400_000;

interface Window {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * Returns the time within which actions may have caused a hold. A hold may contain removals of several holds.
 * `dirtySinceMs` is from the first of them, and the window ends when the last of them started.
 */
const windowOf = ({ dirtySinceMs, expiresAtMs, decision }: Hold): Window => ({
  sinceMs: dirtySinceMs - LOOKED_BACK_MS,
  untilMs: decision.kind === 'waiting' ? expiresAtMs - HOLD_LIFETIME_MS : decision.atMs,
});

/**
 * With four eyes now, or when the hold was made, refuses an approval by a person who may have caused the hold. If the
 * audit no longer covers the window, an administrator of the console may approve, or two persons together.
 * @throws Refused also after the first of these two approvals, which this function records
 */
async function refuseAuthors(
  state: GroupState,
  { current: hold, users }: Chosen,
  { reason, isAdministrator = false }: HoldRequest,
  ports: HoldPorts,
): Promise<void> {
  const { ref } = state;
  const connection = await ports.connections.current(ref.connection);
  if (connection === undefined || !(connection.settings.fourEyes || hold.fourEyes)) return;
  const window = windowOf(hold);
  const causes = await causesOf(state, hold, connection, ports);
  const actions = await actionsBefore(ref, window, connection.settings.nested === 'flatten', ports);
  const creators = await creatorsOf(causes, ref.connection, window, ports);
  const authors = [...new Set([...authorsOf(causes, actions), ...creators])];
  const { id: caller } = await ports.caller();
  const { persons = {} } = ports;
  const own = authors.find((author) => mayBeSamePerson(author, caller, persons));
  if (own !== undefined) {
    const uncertain = uncertainPerson(own, caller, persons);
    const others = [...new Set([caller, ...authors])].join(' or ');
    throw new Refused(
      uncertain === undefined
        ? `nothing was changed: your action caused the hold, and ${ref.connection} requires a second approver (setting fourEyes). An operator other than ${others} must approve it`
        : `nothing was changed: ${own} caused the hold. ${uncertain}`,
    );
  }
  const isCovered = window.sinceMs > ports.clock() - AUDIT_LIFETIME_MS;
  if (isCovered || (isAdministrator && isOfConsole(caller))) return;
  const digest = holdDigest(hold, users);
  const sinceMs = Math.max(window.untilMs, ports.clock() - HOLD_LIFETIME_MS);
  const first = await firstApprovals(ref, digest, sinceMs, ports);
  if (first.some((by) => [caller, ...authors].every((one) => !mayBeSamePerson(one, by, persons)))) return;
  const change = { kind: 'decide_hold', before: 'waiting', after: 'approved by one person', reason: digest };
  await recordAction(ref, { action: FIRST, changes: [change], reason }, ports);
  throw new Refused(
    `nothing was removed yet, and your approval is recorded: the audit does not cover all time since ${new Date(window.sinceMs).toISOString()}, so it may lack the author of the hold. A second person must also approve these removals within a week, or an administrator approves them in the console`,
  );
}

const FIRST = 'holds_approve_first';

/**
 * Returns the persons who approved exactly these removals since the given time, as the first of two. The digest contains
 * the platform group, so an approval is also valid after a takeover has moved the platform group. But the same removals
 * in a later hold have the same digest.
 */
async function firstApprovals(ref: GroupRef, digest: string, sinceMs: number, { audit, reader }: HoldPorts) {
  const refs = await withGroupsBefore(ref, reader);
  const found = await Promise.all(refs.map((one) => entriesSince(audit.read(one), sinceMs)));
  const isFirst = ({ action, changes }: AuditEntry) =>
    action === FIRST && changes.some(({ reason }) => reason === digest);
  return found.flat().flatMap((entry) => (isFirst(entry) ? entry.actor.id : []));
}

/**
 * Returns the actions that may have caused a hold: those of the connection, of the group, and of the groups from which
 * takeovers moved it. With nested groups, any moved group may be within the group.
 */
async function actionsBefore(
  ref: GroupRef,
  { sinceMs, untilMs }: Window,
  isNested: boolean,
  { audit, reader }: HoldPorts,
): Promise<readonly EarlierAction[]> {
  const refs = [journalOf(ref.connection), ...(await withGroupsBefore(ref, reader, isNested))];
  const found = await Promise.all(refs.map((one) => entriesSince(audit.actions(one), sinceMs)));
  return found.flat().flatMap(({ atMs, action, actor, outcome, changes }) => {
    const keys = changes.map(({ reason }) => reason);
    return atMs <= untilMs && outcome === 'written' ? { action, by: actor.id, atMs, keys } : [];
  });
}

/** The last use of a token is recorded at most this much too early. */
const USE_RECORDED_MS = 3_600_000;

/**
 * Returns the persons who created, or confirmed, the SCIM tokens by which the removals arrived. If the token of a
 * request is not recorded, each token that was in use may have sent it.
 */
async function creatorsOf(
  causes: readonly HeldCause[],
  connection: ConnectionName,
  { sinceMs }: Window,
  { tokens }: HoldPorts,
): Promise<readonly string[]> {
  const prefixes = new Set(causes.flatMap((cause) => (cause.kind === 'no_event' ? [] : (cause.token ?? []))));
  const used = causes.some(({ kind }) => kind === 'no_event') ? await tokens.list(connection) : [];
  const mayHaveSent = used.filter(({ lastUsedMs = 0 }) => lastUsedMs >= sinceMs - USE_RECORDED_MS);
  const named = await Promise.all([...prefixes].map((prefix) => tokens.find(prefix)));
  return [...mayHaveSent, ...named].flatMap((token) => token?.creators ?? []);
}
