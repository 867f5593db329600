import { defined } from '../../domain/defined.ts';
import { FIELD_NAMES, fieldsOf, GROUP_FIELDS, NO_FIELDS } from '../../domain/group-fields.ts';
import type { GroupState, Intent, ViewPointer, WriteAction } from '../../domain/group-state.ts';
import { type IntentId, intentId, type PlatformGroupId, type VersionToken } from '../../domain/ids.ts';
import { CALL_BEGINS_WITHIN_MS } from '../../domain/promise.ts';
import { isWhole, type ListedGroup, type ObservedGroup } from '../../domain/view.ts';
import { decide } from '../../plan/decide/index.ts';
import type { Write } from '../../plan/decision.ts';
import { isOurCreation } from '../../plan/foreign.ts';
import { meaningOf } from '../../plan/meaning.ts';
import { isListed } from '../../plan/names.ts';
import type { Plan } from '../../plan/plan.ts';
import { changeBetween } from '../../plan/uncertain.ts';
import { type GroupFields, PlatformFailure, type WholeGroup } from '../ports/platform.ts';
import { auditOf, originOf } from './audit.ts';
import { confirmWrite, recordOf, type Writing } from './confirm.ts';
import { type Performed, type Round, SUPERSEDED, type Trial, type Turn } from './turn.ts';
import { stillOwed } from './uncertain.ts';

/** Carries out a plan: intent, call, view, audit, flip. */
export async function performWrite(write: Write, round: Round, turn: Turn): Promise<Performed> {
  const { state, wanted } = round;
  const { ports } = turn;
  if (wanted === undefined) throw new Error('expected a write to be planned from what the directory wants');
  const { connection } = state.ref;
  const intent = await openIntent(write, round, turn);
  if (intent === undefined) {
    await unreserved(round, turn);
    return SUPERSEDED;
  }
  const replaced = state.uncertain?.removals;
  if (write.isReserved && replaced !== undefined) await ports.guard.cancel({ connection, ...replaced });
  turn.opened(intent.id);
  const writing = { write, intent, round: { ...round, wanted, state: { ...state, intent } }, turn };
  let answer: ObservedGroup | DeletionAnswer;
  try {
    answer = await call(write.plan, intent, state, turn);
  } catch (cause) {
    if (!(cause instanceof PlatformFailure)) throw cause;
    return afterFailure(cause, writing);
  }
  // A look that fails from here on says nothing of the write: the intent stays, to be settled.
  if (typeof answer === 'string') return verifyDeletion(answer, writing);
  if (state.released) return confirmClearing(answer, writing);
  if (intent.action !== 'create' || (await isCreated(answer, writing))) return confirmWrite(answer, writing);
  const message = `expected a new group, but the answer is about the existing group ${answer.id}`;
  throw new PlatformFailure('unavailable', message, {});
}

type DeletionAnswer = Awaited<ReturnType<Turn['platform']['groups']['delete']>>;

/** The answer to a DELETE is evidence only: the group is fetched, and `decideDeletion` decides what that proves. */
async function verifyDeletion(answer: DeletionAnswer, writing: Writing): Promise<Performed> {
  const { round, turn } = writing;
  const look = (await turn.platform.groups.get(round.state.platformId as PlatformGroupId)) ?? 'gone';
  const known: Round = { ...round, look, listed: undefined, deletion: answer };
  const decision = decide(known);
  const isGone = decision.kind === 'observe' && decision.observed === 'gone';
  return isGone ? confirmWrite(undefined, writing) : { round: known };
}

/** The platform has answered the PATCH of a released group. The group is released next, whatever the answer shows. */
async function confirmClearing(observed: ObservedGroup, writing: Writing): Promise<Performed> {
  const { write, intent, round, turn } = writing;
  const { intent: _, ...state } = round.state;
  const origin = originOf(state, round.wanted, undefined);
  const ending = { atMs: turn.ports.clock(), versionAfter: observed.version, outcome: 'written' } as const;
  const audited = await turn.record(state, auditOf(intent, write.plan.changes, origin, ending));
  const isOver = await turn.ports.groups.dropIntent(state.ref, intent, { audited });
  return isOver ? { round: { ...round, state, look: observed } } : SUPERSEDED;
}

/**
 * Whether the answer of a POST shows the group that it created. It does not if the group existed before, if another
 * directory group has claimed it, or if it differs while the listing has a group exactly as sent. Otherwise a different
 * name is the platform's form of ours.
 */
async function isCreated(observed: ObservedGroup, { write, intent, round, turn }: Writing): Promise<boolean> {
  const isIt = ({ id }: ListedGroup) => id === observed.id;
  if (round.listed && isListed(round.listed.groups, observed.id)) return false;
  const fits = (group: ListedGroup) => isWhole(group) && isOurCreation(group, intent, write.plan.after);
  if (!fits(observed)) {
    const groups = await turn.platform.groups.list(0);
    if (groups.some((group) => !isIt(group) && fits(group))) return false;
  }
  return (await turn.claim(observed.id as PlatformGroupId)) === undefined;
}

async function openIntent(
  { plan, known, oddBefore, consumes, isReserved }: Write,
  round: Round,
  turn: Turn,
): Promise<Intent | undefined> {
  const { state, reservation } = round;
  const { ports } = turn;
  const id = reservation?.intent ?? intentId(ports.newId());
  const change = await prepareChange(plan, id, round, turn);
  const intent: Intent = {
    id,
    action: plan.action as WriteAction,
    atMs: ports.clock(),
    ...fieldsOf(plan.after ?? NO_FIELDS),
    known,
    ...defined({
      oddBefore,
      reserved: isReserved && reservation !== undefined ? recordOf(reservation) : undefined,
      consumes,
      change,
      platformId: state.platformId,
      versionBefore: state.version,
    }),
  };
  return (await ports.groups.openIntent(state, intent)) ? intent : undefined;
}

/** Stores the complete view of a new group. It becomes the group's view if the platform shows exactly this content. */
async function prepareChange(
  { action, after }: Plan,
  id: IntentId,
  { state, views }: Round,
  { ports: { groups } }: Turn,
): Promise<ViewPointer | undefined> {
  if (after === undefined) return undefined;
  if (action === 'create') return groups.prepareView(state, id, after);
  const change = changeBetween(views?.base, after);
  return change.added.size + change.removed.size === 0 ? undefined : groups.prepareChange(state, id, change);
}

/** @returns the group in the platform's answer; for a deletion, the kind of the answer */
async function call(
  plan: Plan,
  intent: Intent,
  state: GroupState,
  { platform: { groups }, ports }: Turn,
): Promise<ObservedGroup | DeletionAnswer> {
  const id = state.platformId as PlatformGroupId;
  const version = state.version as VersionToken;
  // Other workers tell by the age of an intent whether its call may still be running, so a late call is not sent.
  if (ports.clock() - intent.atMs > CALL_BEGINS_WITHIN_MS) {
    const message = 'a write was not sent: the group was read too long before it';
    throw new PlatformFailure('unreached', message, {});
  }
  if (plan.after === undefined) return groups.delete(id);
  const { after } = plan;
  const whole = { ...fieldsOf(after), users: [...after.users.keys()] };
  switch (plan.action) {
    case 'create':
      return groups.create({ ...whole, spokeId: after.spokeId ?? '' });
    case 'put':
      return groups.put(id, whole, version);
    default:
      return groups.patch(id, changedFields(plan, whole), version);
  }
}

function changedFields(plan: Plan, whole: WholeGroup): GroupFields {
  const kinds = new Set(plan.changes.map(({ kind }) => kind));
  const changed = FIELD_NAMES.filter((field) => kinds.has(GROUP_FIELDS[field].change));
  return {
    ...Object.fromEntries(changed.map((field) => [field, whole[field]])),
    ...(kinds.has('add_member') || kinds.has('remove_member') ? { users: whole.users } : {}),
  };
}

/**
 * A write that certainly did not happen leaves no intent; any other leaves it, to be settled by a look. Whichever 4xx it
 * was: if the version is not the one that we sent, it was a conflict, else a refusal, so the round goes on with a look.
 */
async function afterFailure(
  cause: PlatformFailure,
  { write, intent, round, turn }: Writing,
): Promise<Performed> {
  const { action } = intent;
  const called = action === 'patch' || action === 'put' ? 'change' : action;
  const { happened, next } = meaningOf(cause, called);
  if (happened === 'unknown') throw cause;
  const { ref, uncertain, platformId } = round.state;
  // Removals that stand in the guard's book for an earlier write as well, which may yet happen: the next takes them over.
  const owed = write.isReserved && uncertain?.removals !== undefined ? intent.reserved : undefined;
  const refused: Round = {
    ...round,
    look: undefined,
    rejected: { owed, name: nameIn(write.plan) },
    refused: { write, intent, cause },
  };
  if (next === 'compare' && needsLook(cause, write.plan, round, turn.trial)) return { round: refused };
  await turn.ports.groups.dropIntent(ref, intent, { isRefused: true, uncertain: stillOwed(uncertain, owed) });
  await unreserve(refused, turn);
  const { intent: _, ...state } = round.state;
  if (next === 'refuse' || next === 'compare') return { round: { ...refused, state } };
  if (next !== 'gone' || platformId === undefined) throw cause;
  return { round: { ...refused, state, look: 'gone' } };
}

/**
 * Whether another client was faster. The group was read just before the write, so any other refusal counts until the
 * write is tried again. It is read again only before one user or one field counts as refused.
 */
function needsLook(
  { status = 0 }: PlatformFailure,
  plan: Plan,
  { rejected }: Round,
  { refusals, hasWritten }: Trial,
): boolean {
  if (CONFLICTS.has(status)) return true;
  return rejected === undefined && plan.changes.length === 1 && (hasWritten || refusals === 0);
}

const CONFLICTS: ReadonlySet<number> = new Set([409, 412]);

/** A whole group is sent with its name, be that new or not. */
const nameIn = ({ action, changes, after }: Plan): string | undefined =>
  action === 'put' || changes.some(({ kind }) => kind === 'create_group' || kind === 'rename')
    ? after?.name
    : undefined;

/** The removals of a write that will not happen leave the guard's book, unless they are owed for an earlier one. */
export async function unreserve(round: Round, turn: Turn): Promise<void> {
  if (round.refused?.write.isReserved === true && round.rejected?.owed === undefined)
    await unreserved(round, turn);
}

/** Removals that are held, or are no more, leave the guard's book. */
export async function unreserved(round: Round, { ports }: Turn): Promise<Round> {
  const { reservation, state } = round;
  if (reservation === undefined) return round;
  await ports.guard.cancel({ connection: state.ref.connection, ...reservation });
  return { ...round, reservation: undefined };
}
