import type { Explanation } from '../../shared/contract/answers/explain.ts';
import type { GroupPlan } from '../../shared/sync/apply/plan-group.ts';
import type { Seen } from '../world.ts';
import { partitionOf, type StoredMember, storedUser } from './stored.ts';

interface Stood {
  readonly name: string;
  readonly users: readonly string[];
}

/**
 * The answer of `explain` or `plan` directly before an apply of the group, and the result of this apply. Between the
 * two, no other change of the group happened.
 */
export interface Around<What> {
  readonly connection: string;
  readonly group: string;
  readonly answer: What;
  readonly before: Stood | undefined;
  readonly after: Stood | undefined;
  /** Whether the stored view equalled the platform group before the apply. */
  readonly isSeen: boolean;
  readonly outcome: string;
  /** The hidden users before the apply. Each write sends them again, but a plan shows no change of them. */
  readonly sentAgain?: ReadonlySet<string>;
}

const DONE = new Set(['written', 'in_sync']);

type Prediction = 'in' | 'out' | 'as it was' | 'not added';

/**
 * What each decision of `explain` predicts about the user after the apply. The decision `waiting` is not in this table:
 * it predicts what the directory wants. Any other decision without an entry predicts nothing. For example,
 * `pending:refused` has no entry, because the user may be a hidden user that groupsync sends again.
 */
const PREDICTED: Readonly<Record<string, Prediction>> = {
  in_sync: 'in',
  held: 'as it was',
  kept: 'as it was',
  accepted: 'not added',
  not_wanted: 'not added',
  released: 'as it was',
  excluded: 'as it was',
  paused: 'as it was',
  observing: 'as it was',
  blocked: 'out',
  'pending:blocked': 'out',
  'pending:unknown': 'not added',
  'pending:ambiguous': 'not added',
  'pending:inactive': 'not added',
};

function resultOf(was: boolean, is: boolean): string {
  if (is) return was ? 'kept' : 'added';
  return was ? 'removed' : 'left out';
}

export function checkExplain(seen: Seen, around: Around<Explanation>): void {
  const { answer, before, after, outcome, connection, group } = around;
  const { user } = answer.match;
  const decided = answer.decision.outcome;
  const afterWait = answer.wanted ? 'in' : 'out';
  const predicted = decided === 'waiting' ? afterWait : PREDICTED[decided];
  if (user === null || predicted === undefined) return;
  if (!DONE.has(outcome) && predicted !== 'as it was') return;
  // If another member is bound to the same person, the person may stay in the group.
  const isThem = ({ member, presence }: StoredMember) =>
    presence === 'present' && storedUser(seen, connection, member)?.role === answer.match.bound;
  if (decided === 'not_wanted' && seen.under<StoredMember>(partitionOf(connection, group), 'M#').some(isThem))
    return;
  // If groupsync has not yet read a change by another client, the answer may be wrong. The check `truth` limits how
  // long this lasts.
  if (decided === 'in_sync' && !around.isSeen) return;
  const was = before?.users.includes(user) === true;
  const is = after?.users.includes(user) === true;
  const isTrue = { in: is, out: !is, 'as it was': is === was, 'not added': was || !is }[predicted];
  if (isTrue) return;
  const sentence = `explain reported for ${answer.member} in ${group}: ${decided} (${answer.because}). Expected ${user} to be ${predicted} by the next apply, but it ${resultOf(was, is)} this user.`;
  const cause = `explain_${decided.replace(':', '_')}`;
  seen.runLog.violated({ check: 'one_decision', cause, connection, group, sentence });
}

export function checkPlan(seen: Seen, around: Around<GroupPlan>): void {
  const { answer, before, outcome, connection, group, sentAgain = new Set() } = around;
  const { action, changes, held, note } = answer;
  if (!DONE.has(outcome) || note !== null || action === 'release') return;
  const company = seen.connections.get(connection)?.company ?? '';
  const { installer = null } = seen.platforms.get(company)?.traits ?? {};
  const expected = expectedAfter(answer, before);
  // A user whose removal is held may be a hidden user. The write must then contain this user, because a write without
  // the user would remove the user.
  const mayBeSent = (user: string) => sentAgain.has(user) || held.some((one) => one === user);
  const after = without(around.after, (user) => mayBeSent(user) && !expected?.users.includes(user));
  // The platform adds the installer to each new group. A plan does not show this user.
  const shown =
    action === 'create' && installer !== null ? without(after, (user) => user === installer) : after;
  if (keyOf(expected) === keyOf(shown)) return;
  const planned = changes
    .map(({ kind, before: from, after: to }) => [kind, from, to].filter(Boolean).join(' '))
    .join(', ');
  const sentence = `plan reported for ${group}: ${action} ${planned}. Expected the group to be ${keyOf(expected)}, but the next apply (${outcome}) left ${keyOf(shown)}.`;
  seen.runLog.violated({ check: 'one_decision', cause: `plan_${action}`, connection, group, sentence });
}

type Shown = Pick<Stood, 'name' | 'users'>;

function expectedAfter({ action, changes }: GroupPlan, before: Stood | undefined): Shown | undefined {
  if (action === 'none' || action === 'hold') return before;
  if (action === 'delete') return undefined;
  const users = new Set(before?.users);
  let name = before?.name ?? '';
  for (const { kind, before: from, after: to } of changes) {
    if (kind === 'add_member' && to !== null) users.add(to);
    if (kind === 'remove_member' && from !== null) users.delete(from);
    if ((kind === 'rename' || kind === 'create_group') && to !== null) name = to;
  }
  return { name, users: [...users] };
}

const without = (group: Stood | undefined, isLeftOut: (user: string) => boolean): Shown | undefined =>
  group && { ...group, users: group.users.filter((user) => !isLeftOut(user)) };

/** Returns a text that is equal for equal groups, without the order of users, and white space and case of names. */
const keyOf = (group: Shown | undefined): string =>
  group === undefined
    ? 'gone'
    : `"${group.name.trim().replace(/\s+/g, ' ').toLowerCase()}" with ${[...group.users].sort().join(', ') || 'no users'}`;
