import type { Difference } from '../domain/drift.ts';
import type { GroupField } from '../domain/group-fields.ts';
import { FIELD_NAMES, fieldsFrom, GROUP_FIELDS, isSameValue } from '../domain/group-fields.ts';
import { type Intent, READS_BEHIND_MS } from '../domain/group-state.ts';
import type { PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View } from '../domain/view.ts';
import { type Read, readList } from './decision.ts';
import type { Facts, Listing } from './facts.ts';
import { fieldMatches, foldName, mayBeSpokeId } from './names.ts';
import { compareText } from './plan.ts';
import type { LateWrites } from './uncertain.ts';

/**
 * Returns for how many milliseconds a read still proves nothing. Soon after groupsync's last write, a read with another
 * version may show the state before the write. Such a read may also show an external change that the write replaced.
 *
 *   the read shows    | the last write is | result
 *   ------------------|-------------------|----------------------------
 *   the known version | of any age        | 0
 *   another version   | under 60 s old    | the rest of the 60 s
 *   another version   | older             | 0; another client changed the group
 *
 * In the local stack, which shows created groups sooner, the limit is shorter than 60 s.
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
 * Returns the changes of another client. A change is a difference that no view and no uncertain write of groupsync
 * explains. While an intent is open there are two views: the view before the write and the intended view after the
 * write.
 *
 *   observed         | the views of groupsync | uncertain writes   | result
 *   -----------------|------------------------|--------------------|----------------
 *   user in          | out of all             | add no such user   | members_added
 *   user out         | in all                 | remove no such user| members_removed
 *   value of a field | another in all         | sent no such value | the field's
 *   otherwise        |                        |                    | none
 *
 * A name differs if it is neither the sent name nor the platform's form of that name. Any other field is compared by
 * `isSameValue`, which ignores a difference of form.
 *
 * @param lost fields that another client emptied; any other null proves nothing, because the platform may not show the
 *   field
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
 * Returns the observed group as a view. A user is managed if groupsync added the user according to one of its views.
 * Users that an uncertain write added count as managed too. Otherwise their later removal would count as an external
 * change. If the platform normalised the name, `alias` keeps the name that was sent. If the platform does not echo a
 * field, the view holds the value that was sent. Hidden users, who may be in the group, stay in `unshown`.
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

/**
 * Whether groupsync added a user. The user stays managed, even if a policy accepted that the user was missing for a
 * while.
 */
const isOwnUser = ({ users, unshown, acceptedDrift }: View, user: PlatformUserId): boolean =>
  users.get(user) === true || unshown?.get(user) === true || acceptedDrift?.absent.has(user) === true;

/**
 * Returns the view with hidden users added; `true` marks a user that groupsync added. An answer did not show these
 * users, but they may be in the group.
 */
export function withHidden(view: View, hidden: Iterable<readonly [PlatformUserId, boolean]>): View {
  const { unshown = [], ...known } = view;
  return { ...known, ...unshownAs([...unshown, ...hidden].filter(([user]) => !view.users.has(user))) };
}

/**
 * Returns the view of an adopted group. One version has one content. So a user that the list shows under this version
 * is in the group, even if the fetch does not show the user.
 * @param previousView the last view of the link that the group had before
 */
export function adoptedView(
  observed: ObservedGroup,
  listed: ListedGroup,
  previousView: View | undefined,
): View {
  const hidden = isWhole(listed) && listed.version === observed.version ? listed.users : [];
  return withHidden(
    viewOf(observed, previousView),
    hidden.map((user) => [user, previousView !== undefined && isOwnUser(previousView, user)]),
  );
}

/**
 * Whether the platform shows the content of the view. The order and repetition of users do not matter. A field that is
 * not shown does not matter either.
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
 * Returns the fields that groupsync had set and another client emptied. A null proves this only if the platform shows
 * the field. If another group of a list has a value, the platform shows the field. An older list is enough. Otherwise a
 * platform that never shows a field would cost a list for each check.
 * @param agesMs the maximum ages of the list; the next age is tried if no other group of the earlier list shows the
 *   field
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
 * Whether a creation of unknown outcome made this group. If the platform shows a spokeId, the spokeId decides, in any
 * form. Otherwise name and users decide. The platform may have added users. Groups that existed before the creation do
 * not count.
 */
export function isOurCreation(observed: ObservedGroup, intent: Intent, prepared: View | undefined): boolean {
  if (intent.known?.includes(observed.id as PlatformGroupId)) return false;
  if (observed.spokeId !== null) return mayBeSpokeId(observed.spokeId, intent.spokeId);
  if (prepared === undefined || foldName(observed.name) !== foldName(prepared.name)) return false;
  const shown = new Set(observed.users);
  const hasAll = [...prepared.users.keys()].every((user) => shown.has(user));
  return hasAll && (prepared.users.size > 0 || shown.size === 0);
}
