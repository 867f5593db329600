import { type Hold, holdsOf, holdWith } from '../../shared/domain/hold.ts';
import { type GroupRef, memberId } from '../../shared/domain/ids.ts';
import { type HeldRemoval, readHeldRemovals } from '../../shared/operate/held-members.ts';
import { holdRow } from '../../shared/operate/lists.ts';
import type { HeldPeopleCause, HeldPerson, HoldPage } from '../answers.ts';
import type { RequestContext } from './context.ts';
import { decidedIn } from './decided.ts';
import { byName, readSet, stateOf, usersOf } from './group-reads.ts';
import { departmentOf, type KnownMember, knownMembers, nameOf } from './people.ts';

export async function holdPage(ref: GroupRef, context: RequestContext): Promise<HoldPage> {
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
    hold: hold === undefined ? null : decidedRow(ref, hold),
    others: others.flatMap(decidedPart),
    decided: decidedIn(entries.filter((entry) => entry.group === ref.group)),
    causes,
    leaving: leaving.sort(byName),
    staying: staying.sort(byName),
  };
}

function decidedRow({ group }: GroupRef, hold: Hold): HoldPage['hold'] {
  const { decision } = hold;
  const { by, reason } = decision.kind === 'waiting' ? { by: null, reason: null } : decision;
  return { ...holdRow({ group, hold }), by, reason };
}

const decidedPart = ({ removes, decision }: Hold): HoldPage['others'] =>
  decision.kind === 'waiting'
    ? []
    : [{ decision: decision.kind, removes, by: decision.by, reason: decision.reason }];

function personOf(user: string, known: KnownMember | undefined): Omit<HeldPerson, 'cause'> {
  if (known === undefined) return { id: '', name: null, email: null, user, department: null };
  const { register, state } = known;
  return { ...nameOf(memberId(register.member), state), user, department: departmentOf(state) };
}

type Cause = Omit<HeldPeopleCause, 'count'>;

const causeOf = ({ because, event, by }: HeldRemoval): Cause => ({
  because,
  event: event?.id ?? null,
  source: event?.source ?? null,
  at: event?.time ?? null,
  by,
});

const keyOf = ({ because, event, source, at, by }: Cause): string =>
  JSON.stringify([because, event, source, at, by]);

function causesIn(removals: readonly HeldRemoval[]): readonly HeldPeopleCause[] {
  const causes = new Map<string, HeldPeopleCause>();
  for (const removal of removals) {
    const cause = causeOf(removal);
    const key = keyOf(cause);
    causes.set(key, { ...cause, count: (causes.get(key)?.count ?? 0) + 1 });
  }
  return [...causes.values()].sort((a, b) => b.count - a.count);
}
