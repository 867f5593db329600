import {
  changedGroup,
  createdGroup,
  DELETED,
  type GroupChange,
  type GroupContent,
} from '../../simulate/platform/rules.ts';
import type { Initiator } from './schemas/activity.ts';
import type { Group } from './schemas/group.ts';
import type { Change } from './state/changes.ts';
import type { NewId } from './state/from-world.ts';
import type { CompanyState } from './state/state.ts';

/** The author and time of a change, for its activity events. */
export interface Author {
  readonly company: CompanyState;
  readonly initiator: Initiator;
  /** The application that made the change. */
  readonly spoke: string;
  readonly atMs: number;
  readonly newId: NewId;
}

export function createGroup(content: GroupContent, author: Author): { group: Group; changes: Change[] } {
  const { group, change } = createdGroup(content, author.newId);
  return { group, changes: [groupChange(group, author), activityChange(group, author, change)] };
}

/** Returns the group with new content and a new version, and the state changes. Every new version has an event. */
export function changeGroup(group: Group, content: GroupContent, author: Author) {
  const { group: changed, change } = changedGroup(group, content, author.newId);
  const changes =
    change === undefined ? [] : [groupChange(changed, author), activityChange(changed, author, change)];
  return { group: changed, changes };
}

export function deleteGroup(group: Group, author: Author): Change[] {
  return [
    { kind: 'groupDeleted', company: author.company.id, id: group.id },
    activityChange(group, author, DELETED),
  ];
}

const groupChange = (group: Group, author: Author): Change => ({
  kind: 'group',
  company: author.company.id,
  group,
});

function activityChange(group: Group, author: Author, what: GroupChange): Change {
  const { company, initiator, spoke } = author;
  // Readers search the feed by time. So its times must not decrease, even if the clock goes back.
  const atMs = Math.max(author.atMs, company.activity.batches.at(-1)?.atMs ?? 0);
  const described = { atMs, group: { id: group.id, name: group.name }, ...what, initiator, spoke };
  return { kind: 'activity', company: company.id, batch: described };
}
