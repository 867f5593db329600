import type { Check } from '../../contract/answers/connect.ts';
import { type Applicant, PlatformFailure } from '../../sync/ports/platform.ts';
import { fault, messageOf, passed } from '../doctor/check.ts';

/** The platform has two scopes for writes: one for groups, and one for their members. */
export type WriteScope = 'groups' | 'members';

/** The message for each refused scope, and the fix. */
export const SCOPE_REFUSALS: Readonly<Record<WriteScope, readonly [sentence: string, fix: string]>> = {
  groups: [
    'the credential may not create or change groups',
    'grant the app the write scope for groups, then use its new token',
  ],
  members: [
    'the credential may rename groups but may not set their members, so no person would get or lose access',
    'grant the app the write scope for group members, then use its new token',
  ],
};

const CHECK_NAMES = { groups: 'write groups', members: 'write group members' } as const;

const tryIt = (name: string) => `to test this with a new group: groupsync probe --connection ${name}`;

/**
 * Tests both write scopes without a write, by a PATCH of a group that does not exist. If a scope is missing, a platform
 * that checks scopes first answers 403. Some platforms answer 403 for every unknown id. So a 403 proves a missing scope
 * only in two cases: the two scopes get different answers, or a GET of the same id gets another answer. In all other
 * cases only `probe` can test the scopes, because it creates a group for the test.
 */
export async function checkWriteScopes(connection: string, applicant: Applicant): Promise<readonly Check[]> {
  const groups = await answerOf(() => applicant.refusesWrite('groups'));
  const members = await answerOf(() => applicant.refusesWrite('members'));
  const both = [groups, members];
  const needsProof = both.includes(true) && !both.includes(false);
  const hides = needsProof && (await answerOf(() => applicant.hidesGroups()));
  return [checkScope('groups', connection, groups, hides), checkScope('members', connection, members, hides)];
}

type Answer = boolean | PlatformFailure;

const answerOf = (ask: () => Promise<boolean>): Promise<Answer> =>
  ask().catch((error: unknown) => {
    if (error instanceof PlatformFailure) return error;
    throw error;
  });

function checkScope(scope: WriteScope, connection: string, refuses: Answer, hides: Answer): Check {
  const name = CHECK_NAMES[scope];
  const hint = tryIt(connection);
  if (refuses === false)
    return passed(name, `a write to a group that does not exist is not refused; ${hint}`);
  if (refuses instanceof PlatformFailure) return passed(name, `not known: ${messageOf(refuses)}; ${hint}`);
  if (hides instanceof PlatformFailure) return passed(name, `not known: ${messageOf(hides)}; ${hint}`);
  if (hides) {
    return passed(name, `not known: the platform answers 403 for every group that does not exist; ${hint}`);
  }
  const [sentence, fix] = SCOPE_REFUSALS[scope];
  return fault(name, sentence, fix);
}
