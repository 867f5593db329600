import type { PastMembers } from '../contract/answers/groups.ts';
import { formatMoment } from '../contract/moment.ts';
import { groupName } from '../domain/group.ts';
import { GROUP_FIELDS } from '../domain/group-fields.ts';
import type { GroupState } from '../domain/group-state.ts';
import { grouped } from '../domain/grouped.ts';
import { contentOf, usersBetween } from '../domain/history.ts';
import type { ConnectionName, GroupRef, MemberId, PlatformUserId } from '../domain/ids.ts';
import { type DatedStep, membersAt, type Past, stepsAfter } from '../plan/replay.ts';
import { readViews } from '../sync/apply/load.ts';
import { undisturbed } from '../sync/apply/preview.ts';
import { withCurrentOwner } from '../sync/moves.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { entriesIn, type KeptEntry } from '../sync/ports/logs.ts';
import { UNCERTAIN_MS } from '../sync/tuning.ts';
import { withGroupsBefore } from './journal.ts';
import { formatPerson, NotFound, usersOf } from './names.ts';

export type PastPorts = Pick<ToolPorts, 'groups' | 'audit' | 'reader' | 'clock'>;
type HistoryPorts = PastPorts & Pick<ToolPorts, 'users' | 'people'>;

/**
 * Lists the users that were, or may have been, in the platform group at one of the times. `others` are members who may
 * be known in no event of the group.
 * @throws NotFound
 */
export async function listPastMembers(
  ref: GroupRef,
  times: readonly number[],
  ports: HistoryPorts,
  others: readonly MemberId[] = [],
): Promise<PastMembers> {
  const { state, pasts } = await readPast(ref, times, ports);
  const { memberOf, known } = await usersOfHistory(state.ref, ports, others);
  const nowMs = ports.clock();
  const isFuture = times.some((atMs) => atMs > nowMs);
  const future = isFuture ? { knownSinceMs: undefined } : undefined;
  const unknown = pasts.find((past) => 'knownSinceMs' in past) ?? future;
  const lists = unknown ? [] : pasts.flatMap((past) => ('members' in past ? [past.members] : []));
  const rowOf = (user: PlatformUserId) => {
    const member = memberOf(user, Math.max(...times));
    const attributes = member && known.get(member)?.attributes;
    const changed = lists.map((list) => list.get(user)).find((interval) => interval !== undefined);
    const states = lists.map((list) => (list.has(user) ? list.get(user) === undefined : undefined));
    return {
      user,
      member: member ?? null,
      name: (attributes && formatPerson(attributes)) ?? null,
      states: states.map((isCertain) => (isCertain ? 'in' : isCertain === undefined ? 'out' : 'uncertain')),
      changedBetween: changed ? [iso(changed.sinceMs), iso(changed.untilMs)] : null,
    };
  };
  return {
    group: state.ref.group,
    name: groupName(state.registers) ?? null,
    times: times.map(iso),
    known: unknown === undefined,
    knownSince: unknown?.knownSinceMs === undefined ? null : iso(unknown.knownSinceMs),
    knownUntil: isFuture ? iso(nowMs) : null,
    members: [...new Set(lists.flatMap((list) => [...list.keys()]))].sort().map(rowOf),
  };
}

/**
 * Returns the members of the group, of the groups before a takeover, which may have other members, and these `others`.
 * @returns `memberOf`: a member that was bound to the user at this time, if possible one of the others
 */
export async function usersOfHistory(ref: GroupRef, ports: HistoryPorts, others: readonly MemberId[] = []) {
  const refs = await withGroupsBefore(ref, ports.reader);
  const found = await Promise.all(refs.toReversed().map((one) => usersOf(one, ports)));
  const more = await ports.users.read(ref.connection, others);
  const known = new Map([...found.flatMap((one) => [...one.known]), ...more]);
  const boundTo = new Map(found.flatMap((one) => [...one.boundTo]));
  const bindings = [...known.values()].flatMap(({ member, role, userId, former }) =>
    [...former, { role, userId, endMs: Infinity }].flatMap((one, at) =>
      [one.role, one.userId].map((id) => ({ id, member, sinceMs: former[at - 1]?.endMs, endMs: one.endMs })),
    ),
  );
  const byUser = grouped(bindings, ({ id }) => id);
  const memberOf = (user: PlatformUserId, atMs: number) => {
    const all = byUser.get(user);
    if (all === undefined) return boundTo.get(user)?.member;
    const then = all.filter(({ sinceMs = 0, endMs }) => sinceMs <= atMs && atMs < endMs);
    // The start of a first binding is not stored. So if such a binding has ended, any other one counts before it.
    const sure = then.filter(({ sinceMs, endMs }) => sinceMs !== undefined || endMs === Infinity);
    const members = (sure.length > 0 ? sure : then).map(({ member }) => member);
    return members.find((member) => others.includes(member)) ?? members.at(-1);
  };
  return { memberOf, known };
}

const MOST_SEARCHED = 5_000;

/** Returns the names at this time of the groups that were renamed since, as far as the newest entries show them. */
export async function namesAt(connection: ConnectionName, atMs: number, { audit }: Pick<PastPorts, 'audit'>) {
  const names = new Map<string, string>();
  let searched = 0;
  for await (const { group = '', changes } of entriesIn(audit.since(connection, atMs))) {
    const renamed = changes.find(({ kind }) => kind === GROUP_FIELDS.name.change);
    // The newest entry is first, so the last one has the name before all renames.
    if (renamed?.before != null) names.set(group, renamed.before);
    searched += 1;
    if (searched === MOST_SEARCHED) break;
  }
  return names;
}

type Known = Pick<PastMembers, 'knownSince' | 'knownUntil'>;

/** Describes what is known if the members at a time are not known: the time is in the future, or before the records. */
export function whatIsKnown({ knownSince, knownUntil }: Known): string {
  if (knownUntil !== null)
    return `expected a past time; the members are known until ${formatMoment(Date.parse(knownUntil))}`;
  const since =
    knownSince === null ? 'are not known' : `are known since ${formatMoment(Date.parse(knownSince))}`;
  return `the members ${since}: before, groupsync did not manage the group or has no record`;
}

export class NotKnown extends NotFound {
  constructor(past: Known) {
    super(whatIsKnown(past));
  }
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** Returns who was in a platform group at each of the times, as far as groupsync can prove it. @throws NotFound */
export async function readPast(ref: GroupRef, times: readonly number[], ports: PastPorts) {
  const { state, present, steps } = await readHistory(ref, Math.min(...times), ports);
  return { state, pasts: times.map((atMs): Past => membersAt(atMs, present, steps)) };
}

/**
 * Returns the present content of the platform group of a directory group, and the steps since this time, or only the
 * newest ones, with the other entries between them. After a takeover, the group that owns the platform group has the history. @throws NotFound
 */
export const readHistory = async (ref: GroupRef, sinceMs: number, ports: PastPorts, newest = Infinity) =>
  undisturbed(await ownerOf(ref, ports), ports, async (state) => {
    const { intent, uncertain, suspectedChange } = state;
    const views = await readViews(state, { ports });
    const { steps, others } = await readSteps(state, sinceMs, ports, newest);
    // Writes without a known outcome, and a suspected change that apply has not read, may have changed these users.
    const open = [
      ...(intent === undefined ? [] : usersBetween(views.base, views.prepared)),
      ...(suspectedChange === undefined ? [] : usersBetween(undefined, views.base)),
    ].map(({ user }) => user);
    const { added = [], removed = [] } = views.uncertain ?? {};
    const { last } = stepsAfter(Infinity, contentOf(state), steps);
    const begun = [intent?.atMs, uncertain?.write?.atMs, suspectedChange && last?.sinceMs];
    const openSinceMs = Math.min(...begun.map((atMs) => atMs ?? ports.clock()));
    const present = {
      // No step has the empty id. So nothing is known if the view cannot be read.
      content: views.isUnreadable ? '' : contentOf(state),
      view: views.base,
      open: { users: [...open, ...added, ...removed], sinceMs: openSinceMs, untilMs: ports.clock() },
    };
    return { state, present, steps, others };
  });

async function ownerOf(ref: GroupRef, { groups }: PastPorts): Promise<GroupState> {
  const state = await groups.read(ref);
  if (state === undefined) throw new NotFound(`there is no group ${ref.group}`);
  const { movedTo } = await withCurrentOwner(state, groups);
  return (movedTo && (await groups.read({ ...ref, group: movedTo }))) || state;
}

export type RecordedStep = DatedStep & { readonly entry: KeptEntry };

/** Reads the newest steps back to the last one before this time, also those of the groups before a takeover. */
async function readSteps(state: GroupState, sinceMs: number, ports: PastPorts, newest: number) {
  const steps: RecordedStep[] = [];
  const others: KeptEntry[] = [];
  const isReached = () => stepsAfter(sinceMs, contentOf(state), steps).last !== undefined;
  for await (const { ref, entry } of entriesOf(state.ref, ports)) {
    const { step, atMs, action } = entry;
    if (steps.length >= newest || (atMs < sinceMs - UNCERTAIN_MS && isReached())) break;
    if (step === undefined) others.push(entry);
    else steps.push({ ...step, atMs, action, entry, users: await ports.audit.usersOf(ref, entry) });
  }
  return { steps, others };
}

async function* entriesOf(last: GroupRef, { audit, reader }: PastPorts) {
  for (const ref of await withGroupsBefore(last, reader))
    for await (const entry of entriesIn(audit.read(ref))) yield { ref, entry };
}
