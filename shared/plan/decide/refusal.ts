import { HOUR_MS } from '../../domain/duration.ts';
import { READS_BEHIND_MS } from '../../domain/group-state.ts';
import type { Source } from '../../domain/source.ts';
import type { Wait } from '../decision.ts';

export const TRIED: Wait = {
  kind: 'wait',
  waitMs: undefined,
  why: { code: 'platform_rejected', message: 'the platform refused a write: its parts are tried separately' },
};

export const REFUSED: Wait = {
  kind: 'wait',
  waitMs: READS_BEHIND_MS,
  why: {
    code: 'refused',
    message: 'the platform refuses the change: groupsync tries the change once more in a minute',
  },
};

/**
 * Returns the wait after the platform refused a write that only removes members. These members keep their access, and
 * the write is tried again in an hour.
 */
export const removalsRefused = (count: number, answer: string): Wait => ({
  kind: 'wait',
  waitMs: HOUR_MS,
  why: {
    code: REMOVALS_REFUSED,
    message: `the platform refuses to remove ${count === 1 ? '1 member, who keeps' : `${count} members, who keep`} access; groupsync tries again in an hour: ${answer}`,
  },
});

const REMOVALS_REFUSED = 'removals_refused';

/** These error codes show that the platform has already refused a write of the group. */
export const ONCE_REFUSED: ReadonlySet<string> = new Set([
  REFUSED.why.code,
  TRIED.why.code,
  REMOVALS_REFUSED,
]);

export const NAME_IN_USE: Wait = {
  kind: 'wait',
  waitMs: undefined,
  why: {
    code: 'name_in_use',
    message:
      'another group has this name, so the platform refuses the name: groupsync tries again until the name is free',
  },
};

/** Returns the wait of a group of `source`, because a second platform group with the name of `group` is a duplicate. */
export const ofOtherSource = (group: string, source: Source): Wait => ({
  kind: 'wait',
  waitMs: undefined,
  why: {
    code: 'name_of_other_source',
    message: `the group ${group} of another source has this name, so no second group is created: rename one of the two groups, or run 'groupsync directory takeover --to ${source}'`,
  },
});
