import type { Difference } from '../domain/drift.ts';
import type { GroupField } from '../domain/group-fields.ts';
import { FIELD_NAMES, fieldsFrom, GROUP_FIELDS, isSameValue } from '../domain/group-fields.ts';
import { type Intent, READS_BEHIND_MS } from '../domain/group-state.ts';
import type { PlatformGroupId, PlatformUserId } from '../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup, type View, wantedBefore } from '../domain/view.ts';
import { type Read, readList } from './decision.ts';
import { marksAfter } from './draft.ts';
import type { Facts, Listing } from './facts.ts';
import { fieldMatches, foldName, mayBeSpokeId } from './names.ts';
import { compareText } from './plan.ts';
import type { LateWrites } from './uncertain.ts';

/**
 * Returns the milliseconds until a read of another version can prove an external change; 0 if no wait is needed. Soon
 * after groupsync's last write, a read may show the group from before the write, and so another version.
 *
 *   the read shows    | the last write is | result
 *   ------------------|-------------------|----------------------------
 *   the known version | of any age        | 0; the version did not change
 *   another version   | under 60 s old    | the time until the write is 60 s old
 *   another version   | over 60 s old     | 0; another client changed the group
 *
 * If `createSettleMs` is shorter than 60 s, as in the local stack, `createSettleMs` replaces the 60 s.
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
 * Returns the changes of another client: the differences that no view and no uncertain write of groupsync explains.
 * While an intent is open, groupsync has two views: the view before the write and the intended view after the write.
 *
 *   observed         | the views of groupsync | uncertain writes   | result
 *   -----------------|------------------------|--------------------|----------------
 *   has a user       | none has the user      | none adds it       | members_added
 *   lacks a user     | all have the user      | none removes it    | members_removed
 *   a field's value  | all have another value | none sent it       | `name` or `spoke_id`
 *   otherwise        |                        |                    | none
 *
 * A name is unchanged if it equals the sent name or the platform's form of the sent name. `isSameValue` compares each
 * other field and ignores a difference of form.
 *
 * @param emptied the fields that another client emptied (`emptiedFields`). Any other field without a value counts as
 * unchanged, because the platform may not show the field.
 */
export function externalDifferences(
  knownViews: readonly View[],
  observed: ObservedGroup,
  {
    emptied = NO_FIELD,
    late,
  }: { readonly emptied?: ReadonlySet<GroupField>; readonly late?: LateWrites | undefined } = {},
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
  const isShown = (field: GroupField) => observed[field] != null || emptied.has(field);
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

const mayHold = ({ users, hidden }: View, user: PlatformUserId): boolean =>
  users.has(user) || hidden?.has(user) === true;

const sorted = (users: readonly PlatformUserId[]): readonly PlatformUserId[] => [...users].sort(compareText);

/**
 * Returns the observed group as a view. A user is marked if a known view marks the user. If the platform changed the
 * form of the name, `alias` keeps the sent name. If the platform does not show a field, the field keeps its value from
 * the first known view. Hidden users stay, and so do the mode and the waiting removals of the last known view.
 */
export function viewOf(observed: ObservedGroup, ...knownViews: readonly (View | undefined)[]): View {
  const known = knownViews.find((view) => view !== undefined);
  const last = knownViews.findLast((view) => view !== undefined);
  const named = knownViews.find(
    (view) => view?.alias !== undefined && fieldMatches(view, 'name', observed.name),
  );
  const alias = named?.name === observed.name ? named.alias : named?.name;
  const there = new Map(observed.users.map((user) => [user, true]));
  return {
    ...fieldsFrom((field) => observed[field] ?? known?.[field]),
    ...(alias === undefined ? {} : { alias }),
    users: new Map(
      observed.users.map((user) => [
        user,
        knownViews.some((view) => view !== undefined && isOwnUser(view, user)),
      ]),
    ),
    ...hiddenAs(knownViews.flatMap((view) => [...(view?.hidden ?? [])]).filter(([user]) => !there.has(user))),
    ...wantedBefore(
      knownViews.filter((view) => view !== undefined),
      there,
    ),
    ...(last && marksAfter(last, there, undefined)),
  };
}

const hiddenAs = (users: readonly (readonly [PlatformUserId, boolean])[]): Pick<View, 'hidden'> =>
  users.length === 0 ? {} : { hidden: new Map(users) };

/** Whether the view says that the directory has wanted the user since the link. */
const isOwnUser = ({ users, hidden, wantedBefore }: View, user: PlatformUserId): boolean =>
  users.get(user) === true || hidden?.get(user) === true || wantedBefore?.has(user) === true;

/**
 * Returns the view with more hidden users. An answer of the platform did not show these users, but they may be in the
 * group.
 * @param more the users, each with its mark
 */
export function withHidden(view: View, more: Iterable<readonly [PlatformUserId, boolean]>): View {
  const { hidden = [], ...known } = view;
  return { ...known, ...hiddenAs([...hidden, ...more].filter(([user]) => !view.users.has(user))) };
}

/** Whether the list and the observation show the same group in the same version, and so the same content. */
export const isSameVersion = (listed: ListedGroup, observed: ObservedGroup): listed is ObservedGroup =>
  isWhole(listed) && listed.id === observed.id && listed.version === observed.version;

/**
 * Returns the view of an adopted group. All answers with the same version have the same content. So if the list and the
 * fetch show the same version, every listed user is in the group, even a user that the fetch does not show.
 * @param observed the group in the fetch
 * @param listed the group in the list
 * @param previousView the last view of the directory group's previous link
 */
export function adoptedView(observed: ObservedGroup, listed: ListedGroup, previousView: View | undefined) {
  const hidden = isSameVersion(listed, observed) ? listed.users : [];
  return withHidden(
    viewOf(observed, previousView),
    hidden.map((user) => [user, previousView !== undefined && isOwnUser(previousView, user)]),
  );
}

/**
 * Whether the platform shows the content of the view. The order of the users does not matter, and a user may be shown
 * twice. A field that the platform does not show counts as equal.
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
 * Returns the fields that groupsync had set and that another client emptied. Some platforms never show a field. So a
 * field without a value counts as emptied only if a list shows another group with a value.
 * @param agesMs the maximum ages of the list, tried in this order until another group in the list has a value
 * @returns the fields, or the decision to read a list first
 */
export function emptiedFields(
  observed: ObservedGroup,
  knownViews: readonly View[],
  listed: Listing | undefined,
  agesMs: readonly number[],
): ReadonlySet<GroupField> | Read {
  const isEmptied = (field: GroupField) =>
    observed[field] == null && knownViews.some((view) => view[field] != null);
  const emptied = new Set<GroupField>();
  for (const field of FIELD_NAMES.filter(isEmptied)) {
    const isShown = (group: ListedGroup) =>
      group.id !== observed.id && (group as Partial<ObservedGroup>)[field] != null;
    for (const ageMs of agesMs) {
      if (listed === undefined || listed.ageMs > ageMs) return readList(ageMs);
      if (!listed.groups.some(isShown)) continue;
      emptied.add(field);
      break;
    }
  }
  return emptied;
}

/**
 * Whether a creation with an unknown outcome may have made this group. The first matching line counts:
 *
 *   the group                           | result
 *   ------------------------------------|---------------------------------------------------------------
 *   existed before the creation         | false
 *   shows a spokeId                     | true if the spokeId equals the sent one, apart from its form
 *   shows another name than was sent    | false
 *   shows the name, no users were sent  | true if the group shows no users
 *   shows the name, users were sent     | true if the group shows at least one of these users
 *
 * If the view of the creation (`prepared`) is missing, only the spokeId can prove the creation.
 */
export function isOurCreation(observed: ObservedGroup, intent: Intent, prepared: View | undefined): boolean {
  if (intent.known?.includes(observed.id as PlatformGroupId)) return false;
  if (observed.spokeId !== null) return mayBeSpokeId(observed.spokeId, intent.spokeId);
  if (prepared === undefined || foldName(observed.name) !== foldName(prepared.name)) return false;
  return prepared.users.size === 0
    ? observed.users.length === 0
    : observed.users.some((user) => prepared.users.has(user));
}
