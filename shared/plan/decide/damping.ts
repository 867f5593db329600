import type { FlapDamping, SuspectedChange } from '../../domain/group-state.ts';
import { STAMP_ZERO } from '../../domain/stamp.ts';
import type { ObservedGroup } from '../../domain/view.ts';
import type { Decision, Read } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { withUnwanted } from '../foreign.ts';
import { says } from '../names.ts';
import { treatmentOf } from '../treatment.ts';
import { newnessOf } from '../waive.ts';

/** So often within an hour a group is put right at once. */
const RESTORED_AT_ONCE = 2;

const HOUR_MS = 3_600_000;

export const NO_USERS = { users: new Map() };

const CONTESTED = {
  code: 'contested',
  message: 'somebody else changes the group again and again: it is put right once an hour',
};

/**
 * Somebody who undoes what we write is answered twice at once, then once an hour: each restoration costs three or four
 * calls. The directory's newer word, whoever of ours is to leave, an approval, and a person who asks pass at once.
 */
export function decideRest(facts: Facts): Decision | undefined {
  const { state, nowMs, wanted, views } = facts;
  const { flapDamping, suspectedChange, hold, approval } = state;
  if (
    flapDamping === undefined ||
    flapDamping.count <= RESTORED_AT_ONCE ||
    nowMs >= flapDamping.sinceMs + HOUR_MS
  )
    return undefined;
  if (isAsked(suspectedChange) || hold?.decision.kind === 'approved' || approval) return undefined;
  if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] };
  if (newnessOf(state, wanted).newest > (flapDamping.seen ?? STAMP_ZERO)) return undefined;
  const { users } = wanted.group ?? NO_USERS;
  const current = views.base && withUnwanted(views.base, users);
  const hasLeaver = [...(current?.users ?? [])].some(([user, isOurs]) => isOurs && !users.has(user));
  // Whom somebody else put in is no leaver, and whom the guard holds back leaves no sooner for another write.
  if (hasLeaver && hold === undefined && treatmentOf(facts).mode === 'sync') return undefined;
  return { kind: 'wait', waitMs: flapDamping.sinceMs + HOUR_MS - nowMs, why: CONTESTED };
}

/** A person who asks expects no version: they may know better than our view. */
export const isAsked = (suspectedChange: SuspectedChange | undefined): boolean =>
  suspectedChange?.version === null;

/**
 * The restoration that follows, counted. One that has to rest remembers how new the directory's word is that was written
 * before: what is not written yet does not wait, nor does the one restoration of an hour.
 */
export function contestAfter(
  { state, nowMs, wanted, views }: Facts,
  shown: ObservedGroup,
): FlapDamping | Read {
  const { flapDamping, suspectedChange, lastWriteAtMs = 0 } = state;
  const ageMs = nowMs - (flapDamping?.sinceMs ?? 0);
  if (flapDamping === undefined || ageMs >= 2 * HOUR_MS || isAsked(suspectedChange))
    return { sinceMs: nowMs, count: 1 };
  const isSame = ageMs < HOUR_MS;
  const isRested = !isSame && flapDamping.count > RESTORED_AT_ONCE;
  if (isRested && lastWriteAtMs < flapDamping.sinceMs + HOUR_MS) return flapDamping;
  const count = isSame ? flapDamping.count + 1 : isRested ? flapDamping.count : 1;
  const sinceMs = isSame ? flapDamping.sinceMs : nowMs;
  if (count <= RESTORED_AT_ONCE) return { sinceMs, count };
  if (wanted === undefined) return { kind: 'read', what: ['wanted'] };
  const { base } = views ?? {};
  const users = [...(wanted.group?.users.keys() ?? [])];
  const known = new Set([...shown.users, ...(base?.users.keys() ?? [])]);
  const isWritten =
    base && says(base, 'name', wanted.group?.name ?? base.name) && users.every((user) => known.has(user));
  return { sinceMs, count, ...(isWritten && { seen: newnessOf(state, wanted).newest }) };
}
