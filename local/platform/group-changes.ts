import type { ActivityBatch, Initiator } from './schemas/activity.ts';
import type { Group } from './schemas/group.ts';
import type { Change } from './state/changes.ts';
import type { NewId } from './state/from-world.ts';
import type { CompanyState } from './state/state.ts';

/** Who changes a group, and when: what the activity events say besides the change itself. */
export interface Author {
  readonly company: CompanyState;
  readonly initiator: Initiator;
  /** The application through which it was done. */
  readonly spoke: string;
  readonly atMs: number;
  readonly newId: NewId;
}

type Content = Pick<Group, 'name' | 'spokeId' | 'users'>;

/** A new group with its events. An id named twice among the users counts once; the order sent is kept. */
export function createGroup(content: Content, author: Author): { group: Group; changes: Change[] } {
  const users = [...new Set(content.users)];
  const group = { id: author.newId(), ...content, users, version: author.newId() };
  const event = batch(group, author, { change: 'created', removed: [], added: users });
  return { group, changes: [{ kind: 'group', company: author.company.id, group }, event] };
}

/**
 * A group with new content, a new version and its events. Content equal to the present one changes nothing: same
 * version, no event, so an equal version always means equal content. Every new version has at least one event.
 */
export function changeGroup(group: Group, content: Content, author: Author) {
  const users = [...new Set(content.users)];
  const isRenamed = group.name !== content.name || group.spokeId !== content.spokeId;
  if (!isRenamed && isSameList(group.users, users)) return { group, changes: [] };
  const changed: Group = { id: group.id, ...content, users, version: author.newId() };
  const removed = without(group.users, users);
  const added = without(users, group.users);
  const isMembersOnly = !isRenamed && removed.length + added.length > 0;
  const change = isMembersOnly ? 'members' : 'changed';
  const changes: Change[] = [
    { kind: 'group', company: author.company.id, group: changed },
    batch(changed, author, { change, removed, added }),
  ];
  return { group: changed, changes };
}

/** The memberships end with the group: one event says both. */
export function deleteGroup(group: Group, author: Author): Change[] {
  return [
    { kind: 'groupDeleted', company: author.company.id, id: group.id },
    batch(group, author, { change: 'deleted', removed: [], added: [] }),
  ];
}

function batch(
  group: Group,
  author: Author,
  what: Pick<ActivityBatch, 'change' | 'removed' | 'added'>,
): Change {
  const { company, initiator, spoke } = author;
  // The feed is searched by time: a clock that goes back must not make it disorderly.
  const atMs = Math.max(author.atMs, company.activity.batches.at(-1)?.atMs ?? 0);
  const described = { atMs, group: { id: group.id, name: group.name }, ...what, initiator, spoke };
  return { kind: 'activity', company: company.id, batch: described };
}

function without(all: readonly string[], excluded: readonly string[]): string[] {
  const known = new Set(excluded);
  return all.filter((user) => !known.has(user));
}

const isSameList = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((user, index) => user === other[index]);
