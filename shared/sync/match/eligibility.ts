import { blockOf } from '../../domain/block.ts';
import type { PendingCause, PendingMark } from '../../domain/group-state.ts';
import { mayBeMember, type PersonSettings } from '../../plan/person.ts';
import type { PeopleStore } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { UserState } from '../ports/desired.ts';
import type { Person } from '../ports/people.ts';
import { REFUSED_AGAIN_MS, UNSHOWN_AGAIN_MS } from '../tuning.ts';
import { resolveUser } from './resolve.ts';

/** Whether a member can be written, and the reason if it cannot. */
export interface MemberEligibility {
  readonly cause: PendingCause | 'solved';
  /** The decisive role of the member's person, whose binding may not be stored yet. Without a match: the bound role. */
  readonly person: Person | undefined;
}

/**
 * Returns whether a person can be written as a member, and the platform id with which to write the person.
 * @param refusedRevision the person's revision that the platform refused
 */
export function eligibilityOf(
  { userId, role, state, revision }: Person,
  refusedRevision: number | undefined,
  settings: PersonSettings,
): { readonly cause: MemberEligibility['cause']; readonly id: string | undefined } {
  const id = settings.memberIdField === 'userId' ? userId : role;
  if (id === undefined) return { cause: 'unknown', id };
  if (!mayBeMember({ state }, settings)) return { cause: 'inactive', id };
  return { cause: revision === refusedRevision ? 'refused' : 'solved', id };
}

/** Returns the person's revision that the platform refused; undefined after a day, to try the person again. */
export const refusedRevisionOf = (
  { personRevision, sinceMs }: Partial<Pick<PendingMark, 'personRevision' | 'sinceMs'>> = {},
  nowMs: number,
): number | undefined => (nowMs - (sinceMs ?? 0) < REFUSED_AGAIN_MS ? personRevision : undefined);

/**
 * Whether a recent successful write sent this revision of the person, and its answer lacked the person. "Recent" first
 * means within an hour. The period doubles up to a day, because some platforms never show certain users.
 */
export function isUnshownLately({ unshown, sinceMs }: PendingMark, revision: number, nowMs: number): boolean {
  if (unshown?.revision !== revision) return false;
  const restMs = Math.min(Math.max(unshown.atMs - sinceMs, UNSHOWN_AGAIN_MS), REFUSED_AGAIN_MS);
  return nowMs - unshown.atMs < restMs;
}

/**
 * Returns the eligibility that apply would compute now, without a write.
 * @param refusedRevision see `eligibilityOf`
 */
export async function currentEligibility(
  user: UserState,
  refusedRevision: number | undefined,
  matching: {
    readonly connection: Connection;
    readonly people: Pick<PeopleStore, 'read' | 'holding' | 'ofUser'>;
  },
): Promise<MemberEligibility> {
  const { name, settings } = matching.connection;
  const bound =
    user.role === undefined ? undefined : (await matching.people.read(name, [user.role])).get(user.role);
  const resolution = await resolveUser(user, bound, matching);
  const person = resolution.kind === 'person' ? resolution.person : bound;
  if (blockOf(matching.connection.blocks, { ...person, member: user.member }) !== undefined)
    return { cause: 'blocked', person };
  if (resolution.kind === 'pending') return { cause: resolution.cause, person };
  return { cause: eligibilityOf(resolution.person, refusedRevision, settings).cause, person };
}
