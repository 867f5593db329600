import { type Hold, holdsOf } from '../../shared/domain/hold.ts';
import { type GroupRef, memberId } from '../../shared/domain/ids.ts';
import { type HeldRemoval, readHeldRemovals } from '../../shared/operate/held-members.ts';
import { holdRow } from '../../shared/operate/lists.ts';
import type { RequestContext } from './context.ts';
import { decidedIn } from './decided.ts';
import { byName, readSet, stateOf, usersOf } from './group-reads.ts';
import { departmentOf, type KnownMember, knownMembers, nameOf } from './people.ts';

/** @param digest the set to show; undefined: the removals that wait or, if none waits, the decided removals */
export async function holdPage(ref: GroupRef, digest: string | undefined, context: RequestContext) {
  const state = await stateOf(ref, context);
  const holds = holdsOf(state);
  const hold = holds.find((one) => one.digest === digest) ?? holds[0];
  const others = holds.filter((one) => one !== hold);
  const connection = await context.ports.connections.current(ref.connection);
  const [{ entries }, known, users, removals, ...leavingToo] = await Promise.all([
    context.overview.activity(),
    knownMembers(state, context.ports),
    usersOf(state, context),
    hold && connection ? readHeldRemovals(state, hold, connection, context.ports) : [],
    ...others.filter(mayLeave).map((one) => readSet(state, one, context)),
  ]);
  const byUser = new Map(known.map((one) => [one.user, one]));
  const held = new Set<string>(removals.map(({ user }) => user));
  const causes = causesIn(removals);
  const places = new Map(causes.map(([key], place) => [key, place]));
  const leaving = removals.map((removal) => ({
    ...personOf(removal.user, byUser.get(removal.user)),
    cause: places.get(keyOf(removal)) ?? null,
  }));
  const staying = [...users]
    .filter((user) => !held.has(user) && !leavingToo.some((set) => set.has(user)))
    .map((user) => ({ ...personOf(user, byUser.get(user)), cause: null }));
  return {
    group: ref.group,
    name: state.registers.name?.value ?? null,
    hold: hold === undefined ? null : decidedRow(ref, hold),
    others: others.map((one) => decidedRow(ref, one)),
    decided: decidedIn(entries.filter((entry) => entry.group === ref.group)),
    /** The cause with the most removals comes first. A person has the index of its cause. */
    causes: causes.map(([, cause]) => cause),
    leaving: leaving.sort(byName),
    staying: staying.sort(byName),
  };
}

function decidedRow({ group }: GroupRef, hold: Hold) {
  const { decision } = hold;
  const { by, reason } = decision.kind === 'waiting' ? { by: null, reason: null } : decision;
  return { ...holdRow({ group, hold }), by, reason };
}

const mayLeave = ({ decision }: Hold): boolean => decision.kind !== 'rejected';

function personOf(user: string, known: KnownMember | undefined) {
  if (known === undefined) return { id: '', name: null, email: null, user, department: null };
  const { register, state } = known;
  return { ...nameOf(memberId(register.member), state), user, department: departmentOf(state) };
}

/** Returns why the directory removes a person, with the event. `by` is the operator who sent the event. */
const causeOf = ({ because, event, by }: HeldRemoval) => ({
  because,
  event: event?.id ?? null,
  source: event?.source ?? null,
  at: event?.time ?? null,
  by,
});

const keyOf = (removal: HeldRemoval): string => JSON.stringify(causeOf(removal));

function causesIn(removals: readonly HeldRemoval[]) {
  const causes = new Map<string, ReturnType<typeof causeOf> & { readonly count: number }>();
  for (const removal of removals) {
    const key = keyOf(removal);
    causes.set(key, { ...causeOf(removal), count: (causes.get(key)?.count ?? 0) + 1 });
  }
  return [...causes].sort(([, a], [, b]) => b.count - a.count);
}
