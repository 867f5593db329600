import { type Hold, holdsOf, holdWith } from '../../shared/domain/hold.ts';
import { type GroupRef, memberId } from '../../shared/domain/ids.ts';
import { type HeldRemoval, readHeldRemovals } from '../../shared/operate/held-members.ts';
import { holdRow } from '../../shared/operate/lists.ts';
import type { RequestContext } from './context.ts';
import { decidedIn } from './decided.ts';
import { byName, readSet, stateOf, usersOf } from './group-reads.ts';
import { departmentOf, type KnownMember, knownMembers, nameOf } from './people.ts';

export async function holdPage(ref: GroupRef, context: RequestContext) {
  const state = await stateOf(ref, context);
  const [hold, ...others] = holdsOf(state);
  const connection = await context.ports.connections.current(ref.connection);
  const [{ entries }, known, users, removals, approved] = await Promise.all([
    context.overview.activity(),
    knownMembers(state, context.ports),
    usersOf(state, context),
    hold && connection ? readHeldRemovals(state, hold, connection, context.ports) : [],
    readSet(state, holdWith('approved', state), context),
  ]);
  const byUser = new Map(known.map((one) => [one.user, one]));
  const held = new Set<string>(removals.map(({ user }) => user));
  const causes = causesIn(removals);
  const places = new Map(causes.map((cause, place) => [keyOf(cause), place]));
  const leaving = removals.map((removal) => ({
    ...personOf(removal.user, byUser.get(removal.user)),
    cause: places.get(keyOf(causeOf(removal))) ?? null,
  }));
  const staying = [...users]
    .filter((user) => !held.has(user) && !approved.has(user))
    .map((user) => ({ ...personOf(user, byUser.get(user)), cause: null }));
  return {
    group: ref.group,
    name: state.registers.name?.value ?? null,
    /** The removals that wait for a decision. If no removals wait, the decided removals. */
    hold: hold === undefined ? null : decidedRow(ref, hold),
    /** Decided removals that `hold` does not contain: approved and not written yet, or rejected. */
    others: others.flatMap(decidedPart),
    decided: decidedIn(entries.filter((entry) => entry.group === ref.group)),
    /** The cause with the most removals comes first. A person has the index of its cause. */
    causes,
    leaving: leaving.sort(byName),
    staying: staying.sort(byName),
  };
}

function decidedRow({ group }: GroupRef, hold: Hold) {
  const { decision } = hold;
  const { by, reason } = decision.kind === 'waiting' ? { by: null, reason: null } : decision;
  return { ...holdRow({ group, hold }), by, reason };
}

const decidedPart = ({ removes, decision }: Hold) =>
  decision.kind === 'waiting'
    ? []
    : [{ decision: decision.kind, removes, by: decision.by, reason: decision.reason }];

function personOf(user: string, known: KnownMember | undefined) {
  if (known === undefined) return { id: '', name: null, email: null, user, department: null };
  const { register, state } = known;
  return { ...nameOf(memberId(register.member), state), user, department: departmentOf(state) };
}

type Cause = ReturnType<typeof causeOf>;

/** Returns why the directory removes a person, with the event. `by` is the operator who sent the event. */
const causeOf = ({ because, event, by }: HeldRemoval) => ({
  because,
  event: event?.id ?? null,
  source: event?.source ?? null,
  at: event?.time ?? null,
  by,
});

const keyOf = ({ because, event, source, at, by }: Cause): string =>
  JSON.stringify([because, event, source, at, by]);

function causesIn(removals: readonly HeldRemoval[]) {
  const causes = new Map<string, Cause & { readonly count: number }>();
  for (const removal of removals) {
    const cause = causeOf(removal);
    const key = keyOf(cause);
    causes.set(key, { ...cause, count: (causes.get(key)?.count ?? 0) + 1 });
  }
  return [...causes.values()].sort((a, b) => b.count - a.count);
}
