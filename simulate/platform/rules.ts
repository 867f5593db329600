import type { GroupField, WrittenFields } from '../../shared/domain/group-fields.ts';
import { FIELD_NAMES, fieldsFrom, fieldsOf, NO_FIELDS } from '../../shared/domain/group-fields.ts';

/*
 * The rules of groups and of the activity feed of the Workforce Platform, as pure functions. Both the platform of the
 * simulation and the HTTP simulator (local/platform) use these rules.
 *
 *   write   version in the request   result
 *   ------- ------------------------ --------------------------------------------------------------------
 *   PUT     current version or none  the group is replaced; a missing field is emptied
 *   PATCH   current version or none  the group is changed; a missing field keeps its value
 *   PUT     another version          refused as stale
 *   PATCH   another version          refused as stale; changed if the platform ignores versions of PATCH
 *   any     any accepted version     if the new content equals the old content: same version and no event
 */

export interface PlatformGroup extends WrittenFields {
  readonly id: string;
  readonly users: string[];
  readonly version: string;
}

export interface GroupContent extends WrittenFields {
  readonly users: readonly string[];
}

/** The body of a write. A PUT empties a missing field. A PATCH leaves a missing field unchanged. */
export type GroupBody = { readonly [Field in keyof GroupContent]?: GroupContent[Field] | undefined };

export const shownGroup = (
  group: Omit<PlatformGroup, 'version'> & { readonly version: string | number },
  { echoSpokeId }: { readonly echoSpokeId: boolean },
) => ({
  id: group.id,
  ...fieldsOf(group),
  ...(!echoSpokeId && { spokeId: null }),
  users: group.users,
  version: group.version,
});

/** The change of a group, as the feed reports it. If the change is `members`, only the users changed. */
export interface GroupChange {
  readonly change: 'created' | 'changed' | 'deleted' | 'members';
  readonly removed: string[];
  readonly added: string[];
}

type NewId = () => string;

/** Returns a new group. A repeated user id counts once, and the users keep their order. */
export function createdGroup(content: GroupContent, newId: NewId) {
  const users = [...new Set(content.users)];
  const group: PlatformGroup = { id: newId(), ...fieldsOf(content), users, version: newId() };
  const change: GroupChange = { change: 'created', removed: [], added: users };
  return { group, change };
}

/**
 * Returns the group with new content and a new version. If the content is equal, the version stays, and the result has
 * no `change`. So equal versions always mean equal content. A different order of the users counts as different content.
 */
export function changedGroup<Known extends Omit<PlatformGroup, 'version'>>(
  group: Known,
  content: GroupContent,
  newId: NewId,
): { readonly group: Known | PlatformGroup; readonly change?: GroupChange } {
  const users = [...new Set(content.users)];
  const isRenamed = FIELD_NAMES.some((field) => group[field] !== content[field]);
  if (!isRenamed && isSameList(group.users, users)) return { group };
  const removed = without(group.users, users);
  const added = without(users, group.users);
  const change = !isRenamed && removed.length + added.length > 0 ? 'members' : 'changed';
  return {
    group: { id: group.id, ...fieldsOf(content), users, version: newId() },
    change: { change, removed, added },
  };
}

/** The feed reports the deletion of a group and the end of all its memberships in one event. */
export const DELETED: GroupChange = { change: 'deleted', removed: [], added: [] };

export const NO_CONTENT: GroupContent = { ...NO_FIELDS, users: [] };

export function wantedContent(method: 'PUT' | 'PATCH', group: GroupContent, body: GroupBody): GroupContent {
  const kept = method === 'PATCH' ? group : NO_CONTENT;
  const given = (field: GroupField) => (body[field] === undefined ? kept[field] : body[field]);
  return { ...fieldsFrom(given), users: body.users ?? kept.users };
}

/** Returns whether the platform must refuse the write because its version is not the current version of the group. */
export function isStale(
  method: 'PUT' | 'PATCH',
  group: { readonly version: string | number },
  sent: string | number | undefined,
  enforceVersionOnPatch: boolean,
): boolean {
  const isCompared = method === 'PUT' || enforceVersionOnPatch;
  return isCompared && sent !== undefined && sent !== group.version;
}

export function keptName(sent: string, names: 'exact' | 'trimmed' | 'folded'): string {
  if (names === 'exact') return sent;
  const trimmed = sent.trim().replace(/\s+/g, ' ');
  return names === 'folded' ? trimmed.toLowerCase() : trimmed;
}

export const keptSpokeId = (sent: string, spokeIds: 'exact' | 'folded'): string =>
  spokeIds === 'folded' ? sent.toLowerCase() : sent;

export type InitiatorType = 'EXTERNAL' | 'ROLE' | 'SYSTEM';

/**
 * All events of one change, stored together. Separate events for a change of 20,000 members would store the group and
 * the initiator 20,000 times.
 */
export interface FeedBatch extends GroupChange {
  readonly atMs: number;
  readonly group: { readonly id: string; readonly name: string };
  readonly initiator: {
    readonly type: InitiatorType;
    readonly role: string | null;
    readonly displayName: string;
  };
  readonly spoke: string;
}

/** One event of the feed. Its position in the log is its sequence. */
export interface FeedEntry<Batch extends FeedBatch = FeedBatch> {
  readonly batch: Batch;
  readonly kind: 'created' | 'changed' | 'deleted' | 'added' | 'removed';
  /** The affected user, as in the group's `users`; null if the event is not about a member. */
  readonly user: string | null;
}

export function feedEntries<Batch extends FeedBatch>(batch: Batch): FeedEntry<Batch>[] {
  return [
    ...(batch.change === 'members' ? [] : [{ batch, kind: batch.change, user: null }]),
    ...batch.removed.map((user) => ({ batch, kind: 'removed' as const, user })),
    ...batch.added.map((user) => ({ batch, kind: 'added' as const, user })),
  ];
}

/** The request of a client that reads the feed: the position, the first and last time, and the number of events. */
export interface FeedPlace {
  readonly position: number;
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly limit: number;
}

/** Returns at most `limit` events after a position, the next position, and whether no event is later. */
export function feedPage<Batch extends FeedBatch>(log: readonly FeedEntry<Batch>[], place: FeedPlace) {
  const { fromMs = -Infinity, untilMs = Infinity, limit } = place;
  const entries: { entry: FeedEntry<Batch>; sequence: number }[] = [];
  let { position } = place;
  for (let entry = log[position]; entry !== undefined; entry = log[position]) {
    if (entry.batch.atMs > untilMs || entries.length === limit) break;
    position += 1;
    if (entry.batch.atMs >= fromMs) entries.push({ entry, sequence: position });
  }
  const following = log[position];
  return { entries, position, isEnd: following === undefined || following.batch.atMs > untilMs };
}

/** Finds the first position at or after a time, by binary search. Times in the log never decrease. */
export function firstAtOrAfter(log: readonly FeedEntry[], ms: number): number {
  let low = 0;
  let high = log.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((log[middle]?.batch.atMs ?? Infinity) < ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the field `next` of the last page. The specification does not define the form of this field. */
export function endOfFeed(
  form: 'same' | 'null' | 'absent' | 'empty',
  cursor: string,
): { next?: string | null } {
  if (form === 'absent') return {};
  if (form === 'null') return { next: null };
  return { next: form === 'same' ? cursor : '' };
}

type PageForm = 'list' | 'nullEvents' | 'nullData';
type Page = { readonly events: readonly unknown[]; readonly next?: string | null };

/**
 * Returns a page of the feed in the form of this platform. If there are no events, the platform may send null. The null
 * replaces the list of events or the whole page.
 */
export function feedEnvelope(page: Page, envelope: 'data' | 'flat', emptyPage: PageForm): object {
  const isNull = page.events.length === 0 && emptyPage !== 'list';
  const shown = isNull ? { ...page, events: null } : page;
  if (envelope === 'flat') return shown;
  return { data: isNull && emptyPage === 'nullData' ? null : shown, error: null };
}

const KINDS = {
  created: { type: 'EXTERNAL_GROUP_ADD', name: 'Group added' },
  changed: { type: 'EXTERNAL_GROUP_UPDATE', name: 'Group changed' },
  deleted: { type: 'EXTERNAL_GROUP_REMOVE', name: 'Group removed' },
  added: { type: 'EXTERNAL_GROUP_MEMBER_ADD', name: 'Account added to group' },
  removed: { type: 'EXTERNAL_GROUP_MEMBER_REMOVE', name: 'Account removed from group' },
} as const satisfies Record<FeedEntry['kind'], { type: string; name: string }>;

const REASONS = {
  EXTERNAL: { reason: 'CHANGE_SYNCED_FROM_EXTERNAL_APP', message: 'The change was synced from' },
  ROLE: { reason: 'CHANGED_BY_ROLE', message: 'The change was made by' },
  SYSTEM: { reason: 'CHANGED_BY_SYSTEM', message: 'The change was made by' },
} as const;

type FindPerson = (user: string) => { readonly id: string; readonly name: string } | undefined;

/** Returns the event in the form of the specification ("Activity event"). Its id is its position in the log. */
export function activityEvent(
  { batch, kind, user }: FeedEntry,
  place: { readonly id: string; readonly company: string },
  personOf: FindPerson,
) {
  const { initiator } = batch;
  const { reason, message } = REASONS[initiator.type];
  return {
    id: place.id,
    request_data: null,
    linked_events: [],
    subjects: [subject('GROUP', batch.group.id, batch.group.name), ...memberSubjects(user, personOf)],
    event_type: KINDS[kind].type as string,
    timestamp: timestamp(batch.atMs),
    company: place.company,
    spoke: batch.spoke,
    owner: initiator.role ?? place.company,
    initiator: {
      type: initiator.type,
      role: initiator.role,
      display_name: initiator.displayName,
      icon: null,
    },
    event_reason: { reason, message: `${message} ${initiator.displayName}` },
    name: KINDS[kind].name as string,
  };
}

/** Returns a time as the platform writes it, with milliseconds and a UTC offset: `2026-11-20T10:00:00.123+00:00`. */
export const timestamp = (ms: number) => new Date(ms).toISOString().replace('Z', '+00:00');

function memberSubjects(user: string | null, personOf: FindPerson) {
  if (user === null) return [];
  const person = personOf(user);
  const account = subject('SPOKE_USER', user, person?.name ?? user);
  return person === undefined ? [account] : [account, subject('ROLE', person.id, person.name)];
}

const subject = (type: string, instance: string, name: string) => ({
  instance,
  type,
  display_name: name,
  icon: null,
});

function without(all: readonly string[], excluded: readonly string[]): string[] {
  const known = new Set(excluded);
  return all.filter((user) => !known.has(user));
}

const isSameList = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((user, index) => user === other[index]);
