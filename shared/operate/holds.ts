import { isOfConsole, mayBeSamePerson, type Persons, uncertainPerson } from '../contract/person.ts';
import type { GroupState } from '../domain/group-state.ts';
import {
  HOLD_LIFETIME_MS,
  type Hold,
  type HoldDecision,
  holdsOf,
  REJECTION_LIFETIME_MS,
  STORED_AS,
} from '../domain/hold.ts';
import type { ConnectionName, GroupId, GroupRef, PlatformUserId } from '../domain/ids.ts';
import { authorsOf, type EarlierAction, type HeldCause } from '../plan/approval.ts';
import { isOver } from '../plan/hold.ts';
import { compareText } from '../plan/plan.ts';
import { holdDigest, kindOf } from '../sync/apply/load.ts';
import { collectPages } from '../sync/async-collections.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connections } from '../sync/ports/connections.ts';
import type { DecidedHold, HoldOutcome } from '../sync/ports/decisions.ts';
import type { HeldSet } from '../sync/ports/guard.ts';
import { AUDIT_LIFETIME_MS } from '../sync/ports/logs.ts';
import { dirtyNow } from '../sync/wake.ts';
import { causesOf } from './held-members.ts';
import { doRecorded, type JournalPorts, journalOf, recordAction } from './journal.ts';
import { type NamesPorts, plural } from './names.ts';
import { Refused } from './refused.ts';

export type HoldPorts = JournalPorts &
  NamesPorts &
  Pick<ToolPorts, 'applyQueue' | 'coalesceMs' | 'audit' | 'reader' | 'tokens'> & {
    readonly connections: Pick<Connections, 'find'>;
    readonly persons?: Persons;
  };

/** An operator's decision. It is stored with the removals, and in the audit log with the operator's name. */
export interface HoldRequest {
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

/** Returns every set of held removals of a connection, decided or not, in the order of the groups' ids. */
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
 * One conditional write moves the removals to the set of their decision. The write fails if a set of the group has
 * changed, so a decision from an outdated page has no effect. If the message after the write is lost, the requeue job
 * wakes the group.
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
  const current = seen[STORED_AS[asShown.kind]];
  const isAsShown = current !== undefined && isSameDecision(current.decision, asShown);
  const chosen = isAsShown ? await choose(seen, current, request, ports) : undefined;
  const before = await decidedBefore(seen, kind, chosen, ports);
  if (chosen === undefined || before === undefined) {
    const withDigest = holdsOf(seen).find(({ digest }) => digest === request.digest);
    return { kind: 'changed', hold: withDigest ?? current ?? holdsOf(seen)[0] };
  }
  if (kind === 'approved') await refuseAuthors(seen, chosen, request, ports);
  if (chosen.about === 'delete' && chosen.users.size < chosen.all.size) return { kind: 'all_or_none' };
  return carryOut(seen, { kind, reason: request.reason, chosen, before }, ports);
}

/** The removals to decide, and the set that contains them. */
interface Chosen {
  readonly current: Hold;
  readonly all: HeldSet;
  readonly about: 'remove' | 'delete' | undefined;
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
  const shown = digest === current.digest ? all : (await groups.findHeld(state.ref, digest)).users;
  if (all === undefined || shown === undefined) return undefined;
  const about = kindOf(current, all, platformIdOf(state));
  const isShown = shown === all || holdDigest(platformIdOf(state), 'remove', [...shown]) === digest;
  const chosen = users === undefined ? shown : new Set(users);
  const isIn = [...chosen].every((user) => all.has(user) && shown.has(user));
  const isSome = chosen.size > 0 || all.size === 0;
  return isShown && isIn && isSome ? { current, all, about, users: chosen } : undefined;
}

/** The sets stay stored while the link is gone, because the platform group may exist again later. */
const platformIdOf = ({ link, previousLink }: GroupState) => link?.id ?? previousLink?.platformId;

/**
 * Returns the stored removals of this platform group that have the same decision. Returns undefined if that decision
 * has expired, because apply must first hold these removals again.
 */
async function decidedBefore(
  state: GroupState,
  kind: Kind,
  chosen: Chosen | undefined,
  { groups, clock }: HoldPorts,
): Promise<HeldSet | undefined> {
  const decided = state[STORED_AS[kind]];
  if (decided === undefined || decided === chosen?.current) return new Set();
  if (isOver(decided, clock())) return undefined;
  const users = await groups.readHeld(state.ref, decided);
  const about = users && kindOf(decided, users, platformIdOf(state));
  return users !== undefined && about !== undefined && about === chosen?.about ? users : new Set();
}

interface Given {
  readonly kind: Kind;
  readonly reason: string;
  readonly chosen: Chosen;
  /** The removals that already have the same decision. */
  readonly before: HeldSet;
}

async function carryOut(state: GroupState, given: Given, ports: HoldPorts): Promise<HoldOutcome> {
  const { ref } = state;
  const { kind, reason, chosen } = given;
  const at = dirtyNow(ports);
  const { id: by } = await ports.caller();
  const decision: HoldDecision = { kind, by, reason, atMs: at.nowMs };
  const lifetimeMs = kind === 'rejected' ? REJECTION_LIFETIME_MS : HOLD_LIFETIME_MS;
  const decidedNow = { decision, expiresAtMs: at.nowMs + lifetimeMs };
  const { part, ...sets } = setsAfter(state, given);
  const { from, rest, decided } = sets;
  const write = { from, rest, decided: { ...decided, hold: { ...decided.hold, ...decidedNow } } };
  const about = `${plural(part.removes, 'removal')}, digest ${part.digest}`;
  const change = { kind: 'decide_hold', before: chosen.current.decision.kind, after: kind, reason: about };
  const action = kind === 'approved' ? 'holds_approve' : 'holds_reject';
  let now: Hold | undefined;
  const act = async () => {
    if (await ports.groups.decideHold(state, write, at)) return true;
    // If the first answer was lost, the SDK repeated the request, and the removals already have this decision.
    const after = await ports.groups.read(ref);
    const stored = after?.[STORED_AS[kind]];
    now = holdsOf(after ?? {})[0];
    return stored !== undefined && isSameDecision(stored.decision, decision);
  };
  if (!(await doRecorded(ref, { action, changes: [change], reason }, ports, act)))
    return { kind: 'changed', hold: now };
  await ports.applyQueue.wake([ref]);
  return { kind: 'decided', hold: { ...part, ...decidedNow } };
}

/**
 * Returns the sets after a decision. `part` describes only the removals that are decided now. Approved removals are not
 * counted in `keeps`.
 */
function setsAfter(state: GroupState, { kind, chosen, before }: Given) {
  const { current, all, about, users } = chosen;
  const from = STORED_AS[current.decision.kind];
  const isSameSet = from === STORED_AS[kind];
  const size = current.removes + current.keeps;
  const earlier = state[STORED_AS[kind]];
  const part = (some: HeldSet, keeps: number): Hold => {
    if (some.size === all.size && [...some].every((user) => all.has(user))) return current;
    const digest = holdDigest(platformIdOf(state), about ?? 'remove', [...some]);
    return { ...current, digest, removes: some.size, keeps, share: some.size / (some.size + keeps) };
  };
  const others = new Set([...all].filter((user) => !users.has(user)));
  const together = isSameSet ? all : new Set([...before, ...users]);
  const keepsNow = kind === 'approved' ? size - users.size : size - together.size;
  const restKeeps = kind === 'approved' ? current.keeps : current.keeps + users.size;
  const decided = {
    ...part(together, keepsNow),
    createdAtMs: Math.min(current.createdAtMs, earlier?.createdAtMs ?? current.createdAtMs),
    dirtySinceMs: Math.min(current.dirtySinceMs, earlier?.dirtySinceMs ?? current.dirtySinceMs),
    ...(earlier?.fourEyes && { fourEyes: earlier.fourEyes }),
  };
  const hasRest = others.size > 0 && !isSameSet;
  return {
    from,
    rest: hasRest ? { hold: part(others, restKeeps), users: others } : undefined,
    decided: { hold: decided, users: together },
    part: part(users, size - users.size),
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
const windowOf = ({ createdAtMs, dirtySinceMs, expiresAtMs, decision }: Hold): Window => ({
  sinceMs: Math.min(createdAtMs, dirtySinceMs) - LOOKED_BACK_MS,
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
  const { settings } = (await ports.connections.find(ref.connection)) ?? {};
  if (!settings?.fourEyes && !hold.fourEyes) return;
  const window = windowOf(hold);
  const causes = await causesOf(state, hold, ports);
  const actions = await actionsBefore(ref, window, settings?.nested === 'flatten', ports);
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
  const digest = holdDigest(platformIdOf(state), 'remove', [...users]);
  const first = await firstApprovals(ref, digest, ports);
  if (first.some((by) => [caller, ...authors].every((one) => !mayBeSamePerson(one, by, persons)))) return;
  const change = { kind: 'decide_hold', before: 'waiting', after: 'approved by one person', reason: digest };
  await recordAction(ref, { action: FIRST, changes: [change], reason }, ports);
  throw new Refused(
    `nothing was removed yet, and your approval is recorded: the audit does not cover all time since ${new Date(window.sinceMs).toISOString()}, so it may lack the author of the hold. A second person must also approve these removals within a week, or an administrator approves them in the console`,
  );
}

const FIRST = 'holds_approve_first';

/** Returns the persons who approved exactly these removals within the last week, as the first of two. */
async function firstApprovals(ref: GroupRef, digest: string, { audit, clock }: HoldPorts) {
  const found: string[] = [];
  for await (const page of audit.read(ref)) {
    for (const { atMs, action, actor, changes } of page) {
      if (atMs < clock() - HOLD_LIFETIME_MS) return found;
      if (action === FIRST && changes.some(({ reason }) => reason === digest)) found.push(actor.id);
    }
  }
  return found;
}

/**
 * Returns the actions that may have caused a hold: those of the connection, of the group, and of the groups from which
 * takeovers moved it. With nested groups, any moved group may be within the group.
 */
async function actionsBefore(
  ref: GroupRef,
  window: Window,
  isNested: boolean,
  { audit, reader }: HoldPorts,
): Promise<readonly EarlierAction[]> {
  const { connection } = ref;
  const moves = await reader.moves(connection);
  const groups = new Set([ref.group]);
  // The set grows during the loop, so the loop also follows earlier moves.
  for (const group of groups)
    for (const { from, to } of moves) if (isNested || to === group) groups.add(from);
  const refs = [journalOf(connection), ...[...groups].map((group) => ({ connection, group }))];
  const found = await Promise.all(refs.map((one) => actionsWithin(one, window, audit)));
  return found.flat();
}

async function actionsWithin(
  ref: GroupRef,
  { sinceMs, untilMs }: Window,
  audit: HoldPorts['audit'],
): Promise<readonly EarlierAction[]> {
  const actions: EarlierAction[] = [];
  for await (const page of audit.actions(ref)) {
    for (const { atMs, action, actor, outcome, changes } of page) {
      if (atMs < sinceMs) return actions;
      const keys = changes.map(({ reason }) => reason);
      if (atMs <= untilMs && outcome === 'written') actions.push({ action, by: actor.id, atMs, keys });
    }
  }
  return actions;
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

function isSameDecision(a: HoldDecision, b: HoldDecision): boolean {
  if (a.kind === 'waiting' || b.kind === 'waiting') return a.kind === b.kind;
  return a.kind === b.kind && a.by === b.by && a.atMs === b.atMs;
}
