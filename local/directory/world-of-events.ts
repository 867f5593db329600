import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { decodeMessage } from '../../shared/contract/decode.ts';
import type { DirectoryChange, DirectoryEvent, Member, SnapshotPart } from '../../shared/domain/event.ts';
import type { GroupId, MemberId } from '../../shared/domain/ids.ts';
import type { EventLine } from '../event-files.ts';

export const DOMAIN = 'acme.example';
export const ADMINISTRATOR = `directory-admin@${DOMAIN}`;

interface Group {
  exists: boolean;
  name: string;
  members: Set<MemberId>;
  /** The members of incomplete snapshots, by snapshot id and part index. */
  readonly parts: Map<string, Map<number, readonly Member[]>>;
}

interface State {
  readonly groups: Map<GroupId, Group>;
  readonly emails: Map<MemberId, string>;
}

/** Returns the groups and users of a directory that has sent these events. Lines that are not events are ignored. */
export function worldOfEvents(lines: readonly EventLine[], nowMs: number): WorldInput {
  const state: State = { groups: new Map(), emails: new Map() };
  const events = lines.flatMap(({ text }, index): readonly DirectoryEvent[] => {
    const message = { body: text, messageId: String(index), sentAtMs: nowMs, receivedAtMs: nowMs };
    return decodeMessage(message).events;
  });
  for (const { change } of events.toSorted((a, b) => (a.stamp < b.stamp ? -1 : 1)))
    applyChange(change, state);
  const groups = [...state.groups].filter(([, { exists }]) => exists);
  const members = new Set(groups.flatMap(([, group]) => [...group.members]));
  return {
    domain: DOMAIN,
    users: [
      { id: 'directory-admin', primaryEmail: ADMINISTRATOR, isAdmin: true },
      ...[...members].map((id, index) => ({
        id,
        primaryEmail: state.emails.get(id) ?? `user-${index}@${DOMAIN}`,
      })),
    ],
    groups: groups.map(([id, group], index) => ({
      id,
      email: `group-${index}@${DOMAIN}`,
      name: group.name,
      members: [...group.members].map((member) => ({ member, kind: 'user' as const })),
    })),
  };
}

function applyChange(change: DirectoryChange, state: State): void {
  switch (change.kind) {
    case 'user.upserted':
      noteEmail(change.user, state);
      return;
    case 'user.deleted':
      for (const { members } of state.groups.values()) members.delete(change.user);
      return;
    case 'group.deleted':
      state.groups.delete(change.group);
      return;
    case 'group.upserted':
      Object.assign(groupIn(state, change.group), { exists: true, name: change.name });
      return;
    case 'group.snapshot':
      applySnapshot(change, state);
      return;
    default:
      applyMembership(change, state);
  }
}

type Membership = Extract<DirectoryChange, { kind: 'member.added' | 'member.removed' }>;

function applyMembership({ kind, group, members }: Membership, state: State): void {
  const known = groupIn(state, group).members;
  for (const member of members) {
    noteEmail(member, state);
    if (kind === 'member.added') known.add(member.id);
    else known.delete(member.id);
  }
}

type Snapshot = Extract<DirectoryChange, { kind: 'group.snapshot' }>;

function applySnapshot({ group: id, name, members, part }: Snapshot, state: State): void {
  const group = groupIn(state, id);
  group.exists = true;
  group.name = name ?? group.name;
  for (const member of members) noteEmail(member, state);
  const whole = part === undefined ? members : completeSnapshot(group, part, members);
  if (whole !== undefined) group.members = new Set(whole.map((member) => member.id));
}

/** Stores a part of a snapshot. Returns all members of the snapshot; undefined while a part is missing. */
function completeSnapshot(
  group: Group,
  { snapshotId, index, count }: SnapshotPart,
  members: readonly Member[],
) {
  const parts = group.parts.get(snapshotId) ?? new Map<number, readonly Member[]>();
  group.parts.set(snapshotId, parts.set(index, members));
  return parts.size === count ? [...parts.values()].flat() : undefined;
}

function groupIn({ groups }: State, id: GroupId): Group {
  const known = groups.get(id) ?? { exists: false, name: id, members: new Set(), parts: new Map() };
  groups.set(id, known);
  return known;
}

function noteEmail({ id, attributes }: Member, { emails }: State): void {
  const email = attributes.get('email');
  if (email !== undefined) emails.set(id, email);
}
