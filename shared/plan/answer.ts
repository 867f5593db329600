import type { PlatformUserId } from '../domain/ids.ts';
import type { ObservedGroup, View } from '../domain/view.ts';
import { foldName, renamedTo } from './names.ts';
import type { Plan } from './plan.ts';

/** What a successful answer makes of a write. */
export interface Answer {
  /** The group that the write made: what was sent, under the name that the platform made of the one sent. */
  readonly made: View | undefined;
  /** Users whom this very write took out and who are still there: their removal did not happen. */
  readonly kept: readonly PlatformUserId[];
  /** The platform put somebody in by itself: the next plan takes them out, where the policy does not let them stay. */
  readonly hasAdded: boolean;
  /** A new name was sent, and the group has its old one. */
  readonly keepsName: boolean;
}

/**
 * Compares the answer with what was sent. Users whom it shows though they were not sent:
 *
 *                          | create        | put           | patch
 *     ---------------------|---------------|---------------|--------------------------------
 *     removed by the plan  | –             | kept          | kept
 *     any other            | platform's    | platform's    | somebody else's: drift, not judged here
 */
export function readAnswer(plan: Plan, observed: ObservedGroup | undefined): Answer {
  const { action, after, removals } = plan;
  if (observed === undefined || after === undefined) {
    return { made: after, kept: [], hasAdded: false, keepsName: false };
  }
  const shown = new Set(observed.users);
  const removed = new Set(removals);
  const isWhole = action === 'create' || action === 'put';
  const rename = plan.changes.find(({ kind }) => kind === 'rename');
  const keepsName =
    rename !== undefined &&
    rename.before === observed.name &&
    foldName(rename.before) !== foldName(rename.after ?? '');
  const named = isWhole || rename !== undefined ? renamedTo(after, observed) : after;
  return {
    made: keepsName ? { ...after, name: observed.name } : named,
    kept: removals.filter((user) => shown.has(user)),
    hasAdded: isWhole && [...shown].some((user) => !after.users.has(user) && !removed.has(user)),
    keepsName,
  };
}

/** Whether the platform answered well and did something else than it was sent. */
export const isUndone = ({ kept, hasAdded, keepsName }: Answer): boolean =>
  kept.length > 0 || hasAdded || keepsName;

/** What to tell a person of what the platform did not do; undefined where the next write may well do it. */
export function toldOf({ kept, keepsName }: Answer): string | undefined {
  const told: string[] = [];
  if (kept.length > 0) told.push(`${kept.length} user${kept.length === 1 ? '' : 's'} whom we took out`);
  if (keepsName) told.push('the name that the group had');
  return told.length === 0 ? undefined : `the platform keeps ${told.join(', and ')}`;
}
