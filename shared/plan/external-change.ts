import type { Difference } from '../domain/drift.ts';
import type { GroupField } from '../domain/group-fields.ts';
import { FIELD_NAMES, fieldsFrom, GROUP_FIELDS, isSameValue } from '../domain/group-fields.ts';
import { type Intent, READS_BEHIND_MS } from '../domain/group-state.ts';
import type { PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import type { ListedGroup, ObservedGroup, View } from '../domain/view.ts';
import { type Read, readList } from './decision.ts';
import type { Facts, Listing } from './facts.ts';
import { fieldMatches, foldName, mayBeSpokeId } from './names.ts';
import { compareText } from './plan.ts';
import type { LateWrites } from './uncertain.ts';

/**
 * Remaining time in which a read proves nothing, because it shows another version and may be older than groupsync's
 * last write. It may also show another client's change that this write replaced.
 *
 *   the read shows    | the last write is | result
 *   ------------------|-------------------|----------------------------
 *   the known version | of any age        | 0
 *   another version   | under 60 s old    | the rest of the 60 s
 *   another version   | older             | 0: another client changed it
 *
 * The time is shorter than 60 s if the platform shows created groups sooner, as in the local stack.
 */
export function mayPrecedeWriteForMs(
  shown: ObservedGroup,
  { state, nowMs, createSettleMs }: Pick<Facts, 'state' | 'nowMs' | 'createSettleMs'>,
  known = state.link?.version,
): number {
  const { lastWriteAtMs = Number.NEGATIVE_INFINITY } = state;
  if (known === undefined || shown.version === known) return 0;
  return Math.max(0, lastWriteAtMs + Math.min(READS_BEHIND_MS, createSettleMs) - nowMs);
}

/**
 * What another client changed: each difference that neither groupsync's views nor its uncertain writes explain. While an
 * intent is open there are two views: the one before the write and the one that the write would make.
 *
 *   observed         | the views of groupsync | uncertain writes   | result
 *   -----------------|------------------------|--------------------|----------------
 *   user in          | out of all             | add no such user   | members_added
 *   user out         | in all                 | remove no such user| members_removed
 *   value of a field | another in all         | sent no such value | the field's
 *   otherwise        |                        |                    | none
 *
 * A name is another if it is neither the name that we sent nor the form in which the platform stored it. Another field
 * differs in more than its form (`says`).
 *
 * @param lost fields that another client emptied; any other null field is not echoed, which proves nothing
 */
export function externalDifferences(
  knownViews: readonly View[],
  observed: ObservedGroup,
  {
    lost = NO_FIELD,
    late,
  }: { readonly lost?: ReadonlySet<GroupField>; readonly late?: LateWrites | undefined } = {},
): readonly Difference[] {
  const [first] = knownViews;
  if (first === undefined) return [];
  const all = late === undefined ? knownViews : [...knownViews, late.view];
  const there = new Set(observed.users);
  const added = [...there].filter((user) => !all.some((view) => mayHold(view, user)));
  const removed = [...first.users.keys()].filter(
    (user) =>
      !there.has(user) && knownViews.every(({ users }) => users.has(user)) && !late?.removed.has(user),
  );
  const isShown = (field: GroupField) => observed[field] != null || lost.has(field);
  const differences: Difference[] = FIELD_NAMES.filter(
    (field) => isShown(field) && !all.some((view) => fieldMatches(view, field, observed[field])),
  ).map((field) => ({
    kind: GROUP_FIELDS[field].drift,
    before: first[field] ?? null,
    after: observed[field] ?? null,
  }));
  if (added.length > 0) differences.push({ kind: 'members_added', before: [], after: sorted(added) });
  if (removed.length > 0) differences.push({ kind: 'members_removed', before: sorted(removed), after: [] });
  return differences;
}

const NO_FIELD: ReadonlySet<GroupField> = new Set();

const mayHold = ({ users, unshown }: View, user: PlatformUserId): boolean =>
  users.has(user) || unshown?.has(user) === true;

const sorted = (users: readonly PlatformUserId[]): readonly PlatformUserId[] => [...users].sort(compareText);

/**
 * Returns the observed group as a view. A user is managed if one of our views says that we added it. Additions of an
 * uncertain write count as managed too; otherwise a later removal of them would count as an external change.
 * If the platform normalised the name, `alias` keeps the name that was sent. If the platform does not echo a field, the
 * view holds the value that was sent. Users that may be in the group stay in `unshown`.
 */
export function viewOf(observed: ObservedGroup, ...knownViews: readonly (View | undefined)[]): View {
  const known = knownViews.find((view) => view !== undefined);
  const acceptedDrift = knownViews.find((view) => view?.acceptedDrift !== undefined)?.acceptedDrift;
  const named = knownViews.find(
    (view) => view?.alias !== undefined && fieldMatches(view, 'name', observed.name),
  );
  const alias = named?.name === observed.name ? named.alias : named?.name;
  const there = new Set(observed.users);
  return {
    ...fieldsFrom((field) => observed[field] ?? known?.[field]),
    ...(alias === undefined ? {} : { alias }),
    users: new Map(
      observed.users.map((user) => [
        user,
        knownViews.some((view) => view !== undefined && isOwnUser(view, user)),
      ]),
    ),
    ...unshownAs(
      knownViews.flatMap((view) => [...(view?.unshown ?? [])]).filter(([user]) => !there.has(user)),
    ),
    ...(acceptedDrift === undefined ? {} : { acceptedDrift }),
  };
}

const unshownAs = (users: readonly (readonly [PlatformUserId, boolean])[]): Pick<View, 'unshown'> =>
  users.length === 0 ? {} : { unshown: new Map(users) };

/** A user that groupsync added stays managed, even if the user was missing for a while and a policy accepted that. */
const isOwnUser = ({ users, unshown, acceptedDrift }: View, user: PlatformUserId): boolean =>
  users.get(user) === true || unshown?.get(user) === true || acceptedDrift?.absent.has(user) === true;

/** A view with users that an answer hid and that may still be in the group; `true` if groupsync added them. */
export function withHidden(view: View, hidden: Iterable<readonly [PlatformUserId, boolean]>): View {
  const { unshown = [], ...known } = view;
  return { ...known, ...unshownAs([...unshown, ...hidden].filter(([user]) => !view.users.has(user))) };
}

/**
 * Whether the platform shows the content of the view. The order and repetition of users do not matter, and a field that
 * is not shown.
 */
export function shows(observed: ObservedGroup, view: View): boolean {
  const users = new Set(observed.users);
  return (
    FIELD_NAMES.every(
      (field) => observed[field] == null || isSameValue(field, observed[field], view[field]),
    ) &&
    users.size === view.users.size &&
    [...users].every((user) => view.users.has(user))
  );
}

/**
 * Returns the fields that a write of ours had set and an external change emptied. A null proves that only on a platform
 * that shows the field at all, which other groups in a listing prove. An older listing is enough: a platform that never
 * shows a field must not cost a listing each time.
 * @param agesMs how old the listing may be; the next age is tried if no other group of the listing before shows the field
 */
export function lostFields(
  observed: ObservedGroup,
  knownViews: readonly View[],
  listed: Listing | undefined,
  agesMs: readonly number[],
): ReadonlySet<GroupField> | Read {
  const isEmptied = (field: GroupField) =>
    observed[field] == null && knownViews.some((view) => view[field] != null);
  const lost = new Set<GroupField>();
  for (const field of FIELD_NAMES.filter(isEmptied)) {
    const isShown = (group: ListedGroup) =>
      group.id !== observed.id && (group as Partial<ObservedGroup>)[field] != null;
    for (const ageMs of agesMs) {
      if (listed === undefined || listed.ageMs > ageMs) return readList(ageMs);
      if (!listed.groups.some(isShown)) continue;
      lost.add(field);
      break;
    }
  }
  return lost;
}

/**
 * Whether a creation of unknown outcome made this group. The spokeId decides, in any form. If the platform does not
 * echo it, name and users decide; the platform may have added users. Groups that existed before do not count.
 */
export function isOurCreation(observed: ObservedGroup, intent: Intent, prepared: View | undefined): boolean {
  if (intent.known?.includes(observed.id as PlatformGroupId)) return false;
  if (observed.spokeId !== null) return mayBeSpokeId(observed.spokeId, intent.spokeId);
  if (prepared === undefined || foldName(observed.name) !== foldName(prepared.name)) return false;
  const shown = new Set(observed.users);
  const hasAll = [...prepared.users.keys()].every((user) => shown.has(user));
  return hasAll && (prepared.users.size > 0 || shown.size === 0);
}
