import type { Check } from '../../contract/answers.ts';
import { type Applicant, PlatformFailure } from '../../sync/ports/platform.ts';
import { fault, messageOf, well } from '../doctor/check.ts';

/** Write scopes are separate: one for groups, one for their members. */
export type WriteScope = 'groups' | 'members';

/** The message about a refused scope, and the fix. */
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

/**
 * Tries both write scopes without writing. A platform that checks scopes first answers 403 to a PATCH of a group that does
 * not exist. Any other answer proves nothing; `probe` writes to its own group.
 */
export const checkWriteScopes = async (applicant: Applicant): Promise<readonly Check[]> => [
  await checkScope('groups', applicant),
  await checkScope('members', applicant),
];

async function checkScope(scope: WriteScope, applicant: Applicant): Promise<Check> {
  const name = CHECK_NAMES[scope];
  try {
    const isRefused = await applicant.refusesWrite(scope);
    if (!isRefused)
      return well(
        name,
        'not refused for a group that does not exist; to try it on a new group: groupsync probe',
      );
    const [sentence, fix] = SCOPE_REFUSALS[scope];
    return fault(name, sentence, fix);
  } catch (error) {
    if (!(error instanceof PlatformFailure)) throw error;
    return well(name, `not known: ${messageOf(error)}; to try it on a new group: groupsync probe`);
  }
}
