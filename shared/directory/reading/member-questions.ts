import type { GroupId } from '../../domain/ids.ts';
import { type Directory, DirectoryError } from '../ports.ts';

/** The maximum number of questions in one read of a group. A read may always ask about one nested group. */
const MOST_PER_GROUP = 200;
/**
 * After this number of questions in one run, no further read asks questions. This limit is less than half of the calls
 * that Google allows in a minute.
 */
const MOST_PER_RUN = 1_000;

/** Asks the directory about nested groups that a list lacks, with a limited number of questions in one run. */
export interface MemberQuestions {
  /**
   * Returns the groups of `gone` that may still be members of one of `groups`. The directory counts only users. So an
   * incomplete list can lack a nested group, although its number of users is right.
   * @throws DirectoryError `busy` if the run has reached its limit of questions. The next run then reads the group
   */
  unproven(gone: readonly GroupId[], groups: readonly GroupId[]): Promise<readonly GroupId[]>;
}

export function createMemberQuestions(directory: Pick<Directory, 'hasMember'>): MemberQuestions {
  let asked = 0;
  const isMember = async (child: GroupId, groups: readonly GroupId[]): Promise<boolean> => {
    for (const group of groups) {
      asked += 1;
      if (await directory.hasMember(group, child)) return true;
    }
    return false;
  };
  return {
    async unproven(gone, groups) {
      if (gone.length > 0 && asked >= MOST_PER_RUN) {
        throw new DirectoryError(
          'busy',
          `expected at most ${MOST_PER_RUN} questions about members in one run`,
        );
      }
      // At least one nested group is checked, so that every read makes progress.
      const most = Math.max(1, Math.floor(MOST_PER_GROUP / groups.length));
      for (const [index, child] of gone.slice(0, most).entries()) {
        if (await isMember(child, groups)) return gone.slice(index);
      }
      return gone.slice(most);
    },
  };
}
