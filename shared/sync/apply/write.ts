import { defined } from '../../domain/defined.ts';
import { FIELD_NAMES, fieldsOf, GROUP_FIELDS, NO_FIELDS } from '../../domain/group-fields.ts';
import type { GroupState, Intent, Link, ViewPointer, WriteAction } from '../../domain/group-state.ts';
import { type IntentId, intentId, type PlatformGroupId } from '../../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup } from '../../domain/view.ts';
import { CALL_BEGINS_WITHIN_MS } from '../../domain/wake-up.ts';
import { decide } from '../../plan/decide/index.ts';
import type { Write } from '../../plan/decision.ts';
import { isOurCreation } from '../../plan/external-change.ts';
import { meaningOf } from '../../plan/meaning.ts';
import { foldName, isListed } from '../../plan/names.ts';
import type { Plan } from '../../plan/plan.ts';
import { changeByDrop, changed } from '../../plan/transition.ts';
import { changeBetween } from '../../plan/uncertain.ts';
import { type GroupFields, PlatformFailure, type WholeGroup } from '../ports/platform.ts';
import { auditOf, explain } from './audit.ts';
import { confirmWrite, recordOf, type Writing } from './confirm.ts';
import { type ApplyContext, type Bisection, type PassFacts, type Performed, SUPERSEDED } from './context.ts';
import { stillOwed } from './uncertain.ts';

/** Performs a planned write in this order: intent, call, view, audit, commit. */
export async function performWrite(
  write: Write,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { state, wanted } = facts;
  const { ports } = context;
  if (wanted === undefined) throw new Error('expected a write that was planned from the wanted state');
  const { connection } = state.ref;
  const intent = await openIntent(write, facts, context);
  if (intent === undefined) {
    await unreserved(facts, context);
    return SUPERSEDED;
  }
  const replaced = state.uncertain?.removals;
  if (write.isReserved && replaced !== undefined) await ports.guard.cancel({ connection, ...replaced });
  context.opened(intent.id);
  const writing = { write, intent, facts: { ...facts, wanted, state: { ...state, intent } }, context };
  let answer: ObservedGroup | DeletionAnswer;
  try {
    answer = await call(write.plan, intent, state, context);
  } catch (cause) {
    if (!(cause instanceof PlatformFailure)) throw cause;
    return afterFailure(cause, writing);
  }
  // If a fetch after the call fails, the outcome of the write is unknown. The intent stays open, and a later pass
  // settles it.
  if (typeof answer === 'string') return verifyDeletion(answer, writing);
  if (state.released) return confirmClearing(answer, writing);
  if (intent.action !== 'create' || (await isCreated(answer, writing))) return confirmWrite(answer, writing);
  const message = `expected a new group, but the answer is about the existing group ${answer.id}`;
  throw new PlatformFailure('unavailable', message, {});
}

type DeletionAnswer = Awaited<ReturnType<ApplyContext['platform']['groups']['delete']>>;

/** Fetches the group after a DELETE, because the answer alone does not prove the deletion. */
async function verifyDeletion(answer: DeletionAnswer, writing: Writing): Promise<Performed> {
  const { facts, context } = writing;
  const fetched = (await context.platform.groups.get(facts.state.link?.id as PlatformGroupId)) ?? 'gone';
  const known: PassFacts = { ...facts, fetched, listed: undefined, deletion: answer };
  const decision = decide(known);
  const isGone = decision.kind === 'observe' && decision.observed === 'gone';
  return isGone ? confirmWrite(undefined, writing) : { facts: known };
}

/** Ends the intent of the PATCH that clears a released group's external id. The next decision releases the group. */
async function confirmClearing(observed: ObservedGroup, writing: Writing): Promise<Performed> {
  const { write, intent, facts, context } = writing;
  const { state } = facts;
  const explained = await explain(write.plan.changes, facts, [], context);
  const result = { atMs: context.ports.clock(), versionAfter: observed.version, outcome: 'written' } as const;
  const audited = await context.record(state, auditOf(intent, explained, result));
  const change = changeByDrop({ audited });
  const isOver = await context.ports.groups.dropIntent(state.ref, intent, change);
  return isOver ? { facts: { ...facts, state: changed(state, change), fetched: observed } } : SUPERSEDED;
}

/**
 * Whether the answer to a POST shows the group that the POST created. There are four cases in which the answer shows
 * another group. The shown group existed before the POST, another directory group has claimed it, it has another
 * external id and another name than were sent, or it does not fit the sent fields (`isOurCreation`) and another listed
 * group does. In all other cases, a different name is the platform's form of the sent name.
 */
async function isCreated(observed: ObservedGroup, { write, intent, facts, context }: Writing) {
  const isIt = ({ id }: ListedGroup) => id === observed.id;
  if (facts.listed && isListed(facts.listed.groups, observed.id)) return false;
  const fits = (group: ListedGroup) => isWhole(group) && isOurCreation(group, intent, write.plan.after);
  if (!fits(observed)) {
    if (observed.spokeId !== null && foldName(observed.name) !== foldName(intent.name)) return false;
    const groups = await context.platform.groups.list(0);
    if (groups.some((group) => !isIt(group) && fits(group))) return false;
  }
  return (await context.claim(observed.id as PlatformGroupId, context.ports.clock())) === undefined;
}

async function openIntent(
  { plan, known, malformedBefore, consumes, isReserved }: Write,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Intent | undefined> {
  const { state, reservation } = facts;
  const { ports } = context;
  const id = reservation?.intent ?? intentId(ports.newId());
  const change = await prepareChange(plan, id, facts, context);
  const intent: Intent = {
    id,
    action: plan.action as WriteAction,
    atMs: ports.clock(),
    ...fieldsOf(plan.after ?? NO_FIELDS),
    known,
    ...defined({
      malformedBefore,
      reserved: isReserved && reservation !== undefined ? recordOf(reservation) : undefined,
      consumes: consumes.length === 0 ? undefined : [...consumes],
      change,
      platformId: state.link?.id,
      versionBefore: state.link?.version,
    }),
  };
  return (await ports.groups.openIntent(state, intent)) ? intent : undefined;
}

/**
 * Stores the data that must exist before the call: the changed users, or the complete view of a new group. This view
 * becomes the group's view if the platform shows exactly this content.
 */
async function prepareChange(
  { action, after }: Plan,
  id: IntentId,
  { state, views }: PassFacts,
  { ports: { groups } }: ApplyContext,
): Promise<ViewPointer | undefined> {
  if (after === undefined) return undefined;
  if (action === 'create') return groups.prepareView(state, id, after);
  const change = changeBetween(views?.base, after);
  return change.added.size + change.removed.size === 0 ? undefined : groups.prepareChange(state, id, change);
}

/**
 * Sends the write.
 * @returns the group in the platform's answer; for a deletion, the kind of the answer
 */
async function call(
  plan: Plan,
  intent: Intent,
  state: GroupState,
  { platform: { groups }, ports }: ApplyContext,
): Promise<ObservedGroup | DeletionAnswer> {
  // A creation has no link, and uses neither id nor version.
  const { id, version } = (state.link ?? {}) as Link;
  // Other workers conclude from the age of an intent that its call has ended. So a call is not sent if it would begin
  // too late.
  if (ports.clock() - intent.atMs > CALL_BEGINS_WITHIN_MS) {
    const message = 'the write was not sent, because too much time passed after the intent was stored';
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
 * Handles a failed write. If the outcome is unknown, the intent stays open, and a later fetch settles it. If the write
 * certainly had no effect, its intent ends, but the pass may fetch the group first (`needsFetch`). If the version has
 * changed, the write had a conflict. If the version is the same, the platform refused the content.
 */
async function afterFailure(
  cause: PlatformFailure,
  { write, intent, facts, context }: Writing,
): Promise<Performed> {
  const { action } = intent;
  const called = action === 'patch' || action === 'put' ? 'change' : action;
  const { happened, next } = meaningOf(cause, called);
  if (happened === 'unknown') throw cause;
  const { ref, uncertain, link } = facts.state;
  // This reservation also covers the removals of an earlier write that may still take effect. So the record of
  // uncertain writes keeps the reservation.
  const owed = write.isReserved && uncertain?.removals !== undefined ? intent.reserved : undefined;
  const refused: PassFacts = {
    ...facts,
    fetched: undefined,
    rejected: { owed, name: nameIn(write.plan) },
    refused: { write, intent, cause },
  };
  if (next === 'compare' && needsFetch(cause, write.plan, facts, context.bisection))
    return { facts: refused };
  const change = changeByDrop({ uncertain: stillOwed(uncertain, owed) });
  await context.ports.groups.dropIntent(ref, intent, change, true);
  await unreserve(refused, context);
  const state = changed(facts.state, change);
  if (next === 'refuse' || next === 'compare') return { facts: { ...refused, state } };
  if (next !== 'gone' || link === undefined) throw cause;
  return { facts: { ...refused, state, fetched: 'gone' } };
}

/**
 * Whether the group must be fetched after a 4xx, because another client may have written first. A fetch is always
 * necessary after a conflict status (409, 412). After any other status, a fetch is necessary only if the write has a
 * single change and is the first refused write of this pass, and the search has an accepted write or no earlier
 * refusal. The next step may then record the user or field as refused.
 */
function needsFetch(
  { status = 0 }: PlatformFailure,
  plan: Plan,
  { rejected }: PassFacts,
  { refusals, hasWritten }: Bisection,
): boolean {
  if (CONFLICTS.has(status)) return true;
  return rejected === undefined && plan.changes.length === 1 && (hasWritten || refusals === 0);
}

const CONFLICTS: ReadonlySet<number> = new Set([409, 412]);

/** The name in the request. A PUT always contains a name. */
const nameIn = ({ action, changes, after }: Plan): string | undefined =>
  action === 'put' || changes.some(({ kind }) => kind === 'create_group' || kind === 'rename')
    ? after?.name
    : undefined;

/** Cancels the reservation of a write that will not happen, if no uncertain write needs the reservation. */
export async function unreserve(facts: PassFacts, context: ApplyContext): Promise<void> {
  if (facts.refused?.write.isReserved === true && facts.rejected?.owed === undefined)
    await unreserved(facts, context);
}

export async function unreserved(facts: PassFacts, { ports }: ApplyContext): Promise<PassFacts> {
  const { reservation, state } = facts;
  if (reservation === undefined) return facts;
  await ports.guard.cancel({ connection: state.ref.connection, ...reservation });
  return { ...facts, reservation: undefined };
}
