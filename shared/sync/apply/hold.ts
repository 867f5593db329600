import { createHash } from 'node:crypto';
import { type Hold, type HoldDecision, holdsOf, type RemovalSet, removalsOf } from '../../domain/hold.ts';
import type { PlatformUserId } from '../../domain/ids.ts';
import type { HoldRemovals } from '../../plan/decision.ts';
import { limitOf } from '../../plan/guard-limit.ts';
import { changed } from '../../plan/transition.ts';
import { entryOf } from '../ports/logs.ts';
import { originOf } from './audit.ts';
import { type ApplyContext, type PassFacts, type Performed, SUPERSEDED } from './context.ts';
import { unreserved } from './write.ts';

/** Stores the list of removals, after its audit entry. */
export async function hold(
  { sets: asked, begins }: HoldRemovals,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { state, wanted, settings } = facts;
  const before = await unreserved(facts, context);
  const sets = asked.map(seal);
  const [first] = begins ? sets : [];
  const ended = holdsOf(state).filter(({ digest }) => !sets.some((one) => one.hold.digest === digest));
  const change = {
    kind: 'hold',
    before: first ? null : ended.map(summaryOf).join('; '),
    after: first ? summaryOf(first.hold) : null,
    reason: first
      ? `removals wait: ${limitOf(first.hold, settings.guard)}`
      : 'some of its removals have ended',
  };
  const entry = entryOf(first ? 'hold' : 'drop_hold', [change], context.ports);
  const audited = await context.record(state, { ...entry, ...originOf(state, wanted) });
  const stored = await context.ports.groups.storeRemovals(state, sets, audited);
  return stored === undefined ? SUPERSEDED : { facts: withRemovals(stored, before) };
}

const summaryOf = ({ removes, keeps }: Hold): string => `${removes} to remove, ${keeps} stay`;

export function withRemovals<Known extends Pick<PassFacts, 'state' | 'held'>>(
  sets: readonly RemovalSet[],
  facts: Known,
) {
  const sealed = sets.map(seal);
  const removals = removalsOf(sealed.map((set) => set.hold));
  const state = changed(facts.state, { removals });
  return { ...facts, state, held: { sets: sealed, wantedAt: facts.held?.wantedAt ?? new Map() } };
}

export function seal({ hold, users }: RemovalSet): RemovalSet {
  if (hold.digest !== '') return { hold, users };
  return { hold: { ...hold, digest: holdDigest(hold, users ?? []) }, users };
}

/** Returns the digest that identifies a set: its removals, its platform group and its kind. */
export const holdDigest = (
  { platformId, deletes, ofLeavers }: Pick<Hold, 'platformId' | 'deletes' | 'ofLeavers'>,
  users: Iterable<PlatformUserId>,
): string => {
  const kind = (deletes && 'delete') ?? (ofLeavers && 'leave') ?? 'remove';
  const content = JSON.stringify([platformId ?? null, kind, [...users].sort()]);
  return createHash('sha256').update(content).digest('hex');
};

export function isSameDecision(a: HoldDecision, b: HoldDecision): boolean {
  if (a.kind === 'waiting' || b.kind === 'waiting') return a.kind === b.kind;
  return a.kind === b.kind && a.by === b.by && a.atMs === b.atMs;
}
