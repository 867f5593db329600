import {
  isWithoutGroup,
  type Step,
  type StepUser,
  type UserPresence,
  usersBetween,
} from '../domain/history.ts';
import type { PlatformUserId } from '../domain/ids.ts';
import type { View } from '../domain/view.ts';

/** A step with the time and the action of its entry, and its users, if they are still stored. */
export type DatedStep = Omit<Step, 'users' | 'chunks'> & {
  readonly atMs: number;
  readonly action: string;
  readonly users: readonly StepUser[] | undefined;
};

/** The time within which a user changed. */
interface Interval {
  readonly sinceMs: number;
  readonly untilMs: number;
}

interface Present {
  readonly content: string;
  readonly view: View | undefined;
  /** The users that writes without a known outcome may have changed. */
  readonly open: Interval & { readonly users: readonly PlatformUserId[] };
}

export type Past =
  /** The members, with an interval if it is uncertain whether the user was one, and each user before the next step. */
  | {
      readonly members: ReadonlyMap<PlatformUserId, Interval | undefined>;
      readonly presence: ReadonlyMap<PlatformUserId, UserPresence>;
    }
  /** The members are known only since this time; undefined: they are not known now. */
  | { readonly knownSinceMs: number | undefined };

/** Returns the steps after this time, newest first, and the last step before it. */
export function stepsAfter<Made extends DatedStep>(atMs: number, content: string, steps: readonly Made[]) {
  const made = new Map(steps.filter(({ before, after }) => before !== after).map((one) => [one.after, one]));
  const undone: Made[] = [];
  let step = made.get(content);
  for (; step !== undefined && step.atMs > atMs; step = made.get(step.before ?? '')) undone.push(step);
  return { undone, last: step };
}

/**
 * Returns who was in a platform group: replays the steps backwards from the present content. Only the ids of contents
 * give the order of the steps, because the clocks of workers differ.
 *
 *     the time is                                | a user of the step
 *     -------------------------------------------|---------------------------------------------
 *     after the entry of the step                | is as after the step
 *     between `sinceMs` and the entry            | uncertain
 *     between the previous step and the entry    | uncertain, if another client changed the user
 *     before                                     | is as before the step
 */
export function membersAt(atMs: number, present: Present, steps: readonly DatedStep[]): Past {
  const { undone, last } = stepsAfter(atMs, present.content, steps);
  const gap = undone.find(({ before, users }) => before === undefined || users === undefined);
  const next = gap ?? undone.at(-1);
  const knownSinceMs = gap?.atMs ?? provenSince(next?.before ?? present.content, next, last);
  if (knownSinceMs === undefined || knownSinceMs > atMs) return { knownSinceMs };
  const presence = new Map([
    ...usersBetween(undefined, present.view).map(({ user, is }) => [user, is] as const),
    ...undone.flatMap(({ users = [] }) => users.map(({ user, was }) => [user, was] as const)),
  ]);
  const withPresence = (one: UserPresence) =>
    [...presence].filter(([, is]) => is === one).map(([user]) => user);
  const dated = [
    { users: withPresence('?'), sinceMs: last?.sinceMs ?? atMs, untilMs: next?.atMs ?? atMs },
    present.open,
    ...steps.flatMap((step) => (step.untilMs === undefined ? [] : intervalsOf(step, undefined))),
    ...undone.flatMap((step, at) => intervalsOf(step, undone[at + 1] ?? last)),
  ].filter(({ sinceMs, untilMs }) => sinceMs <= atMs && atMs <= untilMs);
  const members = new Map<PlatformUserId, Interval | undefined>();
  for (const user of withPresence('+')) members.set(user, undefined);
  for (const { users: some, sinceMs, untilMs } of dated)
    for (const user of some) members.set(user, { sinceMs, untilMs });
  return { members, presence };
}

/** A step in which a user joined or left, and the time before which the user did not. */
export interface StepChange<Made extends DatedStep> {
  readonly step: Made;
  readonly notBeforeMs: number;
}

/**
 * The time that a user was in a group. Without `joined`, the user was in the group at the start of the period. Without
 * `left`, the user was in the group at its end.
 */
export interface Stay<Made extends DatedStep> {
  readonly user: PlatformUserId;
  readonly joined?: StepChange<Made>;
  readonly left?: StepChange<Made>;
}

/**
 * @param presence the users before the first step
 * @param steps the steps of the period, oldest first
 * @param sinceMs the time before which no user of the first step changed
 */
export function staysOf<Made extends DatedStep>(
  presence: ReadonlyMap<PlatformUserId, UserPresence>,
  steps: readonly Made[],
  sinceMs: number,
): readonly Stay<Made>[] {
  const atStart = [...presence].filter(([, is]) => is !== '-');
  const present = new Map<PlatformUserId, Stay<Made>>(atStart.map(([user]) => [user, { user }]));
  const ended: Stay<Made>[] = [];
  const note = ({ user, is }: StepUser, change: StepChange<Made>) => {
    const stay = present.get(user);
    if (is !== '-') present.set(user, stay ?? { user, joined: change });
    else if (stay !== undefined) ended.push({ ...stay, left: change });
    if (is === '-') present.delete(user);
  };
  for (const [at, step] of steps.entries())
    for (const one of step.users ?? [])
      note(one, { step, notBeforeMs: one.isOwn ? step.sinceMs : (steps[at - 1]?.sinceMs ?? sinceMs) });
  return [...ended, ...present.values()];
}

/** Returns since when a content is known: not before groupsync creates or links the group, nor after it releases it. */
function provenSince(content: string, next: DatedStep | undefined, last: DatedStep | undefined) {
  const isCreated = next?.action === 'create';
  const isReleased = isWithoutGroup(content) && last?.action === 'release';
  const isLinked = isWithoutGroup(content) && next !== undefined && !isCreated;
  if (last !== undefined && !isReleased && !isLinked) return last.atMs;
  return isCreated ? Math.min(next.sinceMs, next.atMs - 1) : next?.atMs;
}

const intervalsOf = (step: DatedStep, previous: DatedStep | undefined) =>
  (step.users ?? []).map(({ user, isOwn }) => ({
    users: [user],
    sinceMs: isOwn ? step.sinceMs : (previous?.sinceMs ?? 0),
    untilMs: step.untilMs ?? step.atMs,
  }));
