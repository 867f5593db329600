import type { DirectoryEvent } from './messages.ts';

export interface Reading {
  /** The existing groups, by the id that the engine uses. */
  readonly groups: ReadonlyMap<string, ReadGroup>;
  /** The latest e-mail address of each member that has one. */
  readonly emails: ReadonlyMap<string, string>;
  /** The latest employee number of each member that has one. */
  readonly numbers: ReadonlyMap<string, string>;
  /** Members with an inactive account. They stay in the directory groups, but not in platform groups. */
  readonly inactive: ReadonlySet<string>;
  /** The time of the last event about each group or its members. The map includes deleted groups. */
  readonly changedAtMs: ReadonlyMap<string, number>;
  /** For each group, a name that the group may have in place of the name in `groups` (`overlappingNames`). */
  readonly otherNames: ReadonlyMap<string, string>;
}

export interface ReadGroup {
  /** The name; undefined until an event contains one. groupsync does not write a group without a name. */
  readonly name: string | undefined;
  readonly members: ReadonlySet<string>;
  readonly changedAtMs: number;
}

/** An event with its position in the order of all events of its connection. */
export interface Received {
  readonly directoryEvent: Omit<DirectoryEvent, 'order'>;
  /** Nanoseconds since 1970. */
  readonly instant: bigint;
  /** -1 if the event has no sequence. Such an event sorts first. */
  readonly sequence: bigint;
  readonly id: string;
  readonly source: string;
  readonly arrivedAtMs: number;
  /** The operator who sent the event from a file, or the persons who created and confirmed its SCIM token. */
  readonly sentBy?: readonly string[] | undefined;
  /** The version of the resource in the answer to a SCIM request, and the time at which the client sent the request. */
  readonly version?: bigint;
  readonly askedAtMs?: number | undefined;
}

interface Group {
  exists: boolean;
  name: string | undefined;
  /** For each member, the position of the last event that added the member. */
  readonly members: Map<string, number>;
  readonly parts: Map<string, Map<number, number>>;
  changedAtMs: number;
}

/**
 * Returns the directory after all received events. The result does not depend on the order of arrival. The checks use
 * this simple reference model, which shares no code with the engine.
 */
export function readAll(received: readonly Received[]): Reading {
  const sorted = inVersions(received).toSorted((a, b) => byOrder(a, b) || byTieRule(a, b));
  const { groups, emails, numbers, inactive } = replayAll(sorted);
  const existing = [...groups].filter(([, group]) => group.exists);
  return {
    groups: new Map(
      existing.map(([id, { name, members, changedAtMs }]) => {
        return [id, { name, members: new Set(members.keys()), changedAtMs }];
      }),
    ),
    emails,
    numbers,
    inactive,
    changedAtMs: new Map([...groups].map(([id, { changedAtMs }]) => [id, changedAtMs])),
    otherNames: overlappingNames(received),
  };
}

/**
 * Returns the names of SCIM requests that may have been written after the name of the latest version. A request for a
 * whole list takes its version first and writes the name last. Only requests that overlap have this result: the request
 * with the latest version was sent before the other one was answered.
 *
 *     PUT    takes version 5 ────────────────────▶ writes its name as version 7 ──▶ answers version 5
 *     PATCH        writes its name as version 6 ──▶ answers version 6
 */
function overlappingNames(received: readonly Received[]): ReadonlyMap<string, string> {
  const named = received.filter(({ version, directoryEvent: { name } }) => version !== undefined && name);
  const latest = new Map<string, Received>();
  for (const one of named)
    if ((one.version ?? 0n) >= (latest.get(one.id)?.version ?? 0n)) latest.set(one.id, one);
  const overlaps = ({ id, version, arrivedAtMs, directoryEvent: { kind } }: Received) => {
    const last = latest.get(id);
    return kind === 'snapshot' && last?.version !== version && Number(last?.askedAtMs) <= arrivedAtMs;
  };
  return new Map(named.filter(overlaps).map(({ id, directoryEvent }) => [id, directoryEvent.name ?? '']));
}

/** Puts the SCIM requests about each resource into the order of their versions. */
function inVersions(received: readonly Received[]): readonly Received[] {
  const latest = new Map<string, bigint>();
  const versioned = received.filter(({ version }) => version !== undefined);
  if (versioned.length === 0) return received;
  const moved = new Map<Received, Received>();
  for (const one of versioned.toSorted((a, b) => Number((b.version ?? 0n) - (a.version ?? 0n)))) {
    const limit = latest.get(one.id) ?? one.instant;
    const instant = one.instant > limit ? limit : one.instant;
    latest.set(one.id, instant);
    if (instant !== one.instant) moved.set(one, { ...one, instant });
  }
  return received.map((one) => moved.get(one) ?? one);
}

function replayAll(sorted: readonly Received[]) {
  const groups = new Map<string, Group>();
  const emails = new Map<string, string>();
  const numbers = new Map<string, string>();
  const inactive = new Set<string>();
  let position = 0;
  const ended = new Set<string>();
  for (const [place, all] of sorted.entries()) {
    const before = sorted[place - 1];
    // Events with equal stamps have the same position.
    if (before !== undefined && byOrder(before, all) !== 0) position = place;
    const one = withoutEnded(all, ended);
    for (const { id, email, number, isActive } of one.directoryEvent.members ?? []) {
      if (isActive === false) inactive.add(id);
      else if (isActive === true) inactive.delete(id);
      note(emails, { id, value: email }, one, groups);
      note(numbers, { id, value: number }, one, groups);
    }
    replay(one, position, groups);
  }
  return { groups, emails, numbers, inactive };
}

/** Removes members that an earlier SCIM request deleted. Only a POST creates such a user, with another id. */
function withoutEnded(one: Received, ended: Set<string>): Received {
  const { members = [], kind } = one.directoryEvent;
  if (one.source !== 'scim' || members.length === 0) return one;
  if (kind !== 'forget')
    return {
      ...one,
      directoryEvent: { ...one.directoryEvent, members: members.filter(({ id }) => !ended.has(id)) },
    };
  for (const { id } of members) ended.add(id);
  return one;
}

function note(
  values: Map<string, string>,
  { id, value }: { readonly id: string; readonly value: string | null | undefined },
  { arrivedAtMs }: Received,
  groups: ReadonlyMap<string, Group>,
): void {
  if (value == null || values.get(id) === value) return;
  // groupsync may know the groups of a member before it receives an address or a number of the member. The value may
  // match a person, and then these groups change.
  touch(groups.values(), arrivedAtMs, ({ members }) => members.has(id));
  values.set(id, value);
}

function touch(groups: Iterable<Group>, arrivedAtMs: number, isMeant: (group: Group) => boolean): void {
  for (const group of groups) {
    if (isMeant(group)) group.changedAtMs = Math.max(group.changedAtMs, arrivedAtMs);
  }
}

function replay(
  { directoryEvent, source, arrivedAtMs }: Received,
  position: number,
  groups: Map<string, Group>,
): void {
  const { kind, group: id, members = [] } = directoryEvent;
  if (kind === 'profile') {
    touch(groups.values(), arrivedAtMs, (group) => members.some(({ id }) => group.members.has(id)));
    return;
  }
  if (kind === 'forget') {
    for (const { id: gone } of members)
      touch(groups.values(), arrivedAtMs, (group) => group.members.delete(gone));
    return;
  }
  if (id === undefined) return;
  const group = groups.get(id) ?? {
    exists: false,
    name: undefined,
    members: new Map(),
    parts: new Map(),
    changedAtMs: 0,
  };
  groups.set(id, group);
  touch([group], arrivedAtMs, () => true);
  switch (kind) {
    case 'delete':
      Object.assign(group, { exists: false, name: undefined });
      for (const [member, at] of group.members) if (at < position) group.members.delete(member);
      return;
    case 'join':
      for (const member of members) group.members.set(member.id, position);
      return;
    case 'leave':
      for (const member of members) group.members.delete(member.id);
      return;
    default:
      group.exists = true;
      group.name = directoryEvent.name ?? group.name;
      if (kind === 'snapshot') replaySnapshot({ directoryEvent, source }, position, group);
  }
}

/**
 * Applies one part of a snapshot. When all parts are there, a member leaves if no part names the member and no event
 * after the first part added it.
 */
function replaySnapshot(
  { directoryEvent, source }: Pick<Received, 'directoryEvent' | 'source'>,
  position: number,
  group: Group,
): void {
  const { members = [], part } = directoryEvent;
  for (const member of members) group.members.set(member.id, position);
  const key = JSON.stringify([source, part?.snapshotId, part?.count]);
  const arrived = (part && group.parts.get(key)) ?? new Map<number, number>();
  arrived.set(part?.index ?? 0, position);
  if (part !== undefined) group.parts.set(key, arrived);
  if (arrived.size < (part?.count ?? 1)) return;
  const first = Math.min(...arrived.values());
  for (const [member, at] of group.members) if (at < first) group.members.delete(member);
}

/** Orders events by time, then sequence (absent first), then id as bytes, then source. */
export function byOrder(a: Received, b: Received): number {
  if (a.instant !== b.instant) return a.instant < b.instant ? -1 : 1;
  if (a.sequence !== b.sequence) return a.sequence < b.sequence ? -1 : 1;
  return (
    Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) ||
    Buffer.compare(Buffer.from(a.source), Buffer.from(b.source))
  );
}

/** Of two events with equal stamps, the later in this list wins: a leave over a join, a deletion over a name. */
const TIED: readonly DirectoryEvent['kind'][] = [
  'profile',
  'snapshot',
  'name',
  'join',
  'leave',
  'forget',
  'delete',
];

/** Orders events with equal stamps. Of two names, the smaller one as UTF-8 bytes wins. */
function byTieRule({ directoryEvent: a }: Received, { directoryEvent: b }: Received): number {
  const rank = ({ kind }: Received['directoryEvent']) => TIED.indexOf(kind === 'name' ? 'snapshot' : kind);
  return rank(a) - rank(b) || Buffer.compare(Buffer.from(b.name ?? '~'), Buffer.from(a.name ?? '~'));
}

/** Converts an ISO time to nanoseconds since 1970. */
export function instantOf(time: string): bigint {
  const [, fraction = ''] = /\.(\d+)/.exec(time) ?? [];
  const seconds = Date.parse(time.replace(/\.\d+/, ''));
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}
