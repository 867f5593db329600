/*
 * What a stream of native events says, read in the most simple-minded way: sort it, then do what each event tells, one
 * after the other. It shares no code with the engine, so that an end-to-end test can hold the one against the other.
 */

export interface ReadGroup {
  /** undefined until an event names the group. */
  readonly name: string | undefined;
  readonly members: ReadonlySet<string>;
}

export interface ReadDirectory {
  /** Groups that exist at the end, by id. */
  readonly groups: ReadonlyMap<string, ReadGroup>;
  /** Latest e-mail address of every member that any event gave one. */
  readonly emails: ReadonlyMap<string, string>;
}

interface RawMember {
  id: string;
  email?: string | null;
}

export interface RawEvent {
  specversion: string;
  id: string;
  source: string;
  type: string;
  time: string;
  sequence?: string;
  connection?: string;
  data: {
    group?: { id: string; name?: string | null };
    user?: RawMember;
    members?: RawMember[];
    part?: { snapshotId: string; index: number; count: number };
  };
}

interface Group {
  exists: boolean;
  name: string | undefined;
  /** Position in the stream of the event that last said that the member is in. */
  members: Map<string, number>;
  parts: Map<string, Map<number, number>>;
}

/** Reads JSON lines, or events already parsed, of one connection; their order and repetitions do not matter. */
export function readDirectory(input: string | readonly RawEvent[], connection = 'default'): ReadDirectory {
  const all = typeof input === 'string' ? parseLines(input) : input;
  const events = all.filter((event) => (event.connection ?? 'default') === connection).toSorted(byOrder);
  const groups = new Map<string, Group>();
  const emails = new Map<string, string>();
  for (const [position, event] of events.entries()) {
    const { user, members = [] } = event.data;
    for (const { id, email } of [...(user === undefined ? [] : [user]), ...members]) {
      if (typeof email === 'string') emails.set(id, email);
    }
    replay(event, position, groups);
  }
  const existing = [...groups].filter(([, group]) => group.exists);
  return {
    groups: new Map(
      existing.map(([id, { name, members }]) => [id, { name, members: new Set(members.keys()) }]),
    ),
    emails,
  };
}

export const parseLines = (jsonl: string): RawEvent[] =>
  jsonl
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): RawEvent => JSON.parse(line));

function replay(event: RawEvent, position: number, groups: Map<string, Group>): void {
  if (event.type === 'directory.user.deleted') {
    for (const group of groups.values()) group.members.delete(event.data.user?.id ?? '');
    return;
  }
  const id = event.data.group?.id;
  if (id === undefined) return;
  const group = groups.get(id) ?? { exists: false, name: undefined, members: new Map(), parts: new Map() };
  groups.set(id, group);
  const members = event.data.members ?? [];
  switch (event.type) {
    case 'directory.group.deleted':
      Object.assign(group, { exists: false, name: undefined });
      group.members.clear();
      return;
    case 'directory.group.member.added':
      for (const member of members) group.members.set(member.id, position);
      return;
    case 'directory.group.member.removed':
      for (const member of members) group.members.delete(member.id);
      return;
    default:
      group.exists = true;
      group.name = event.data.group?.name ?? group.name;
      if (event.type === 'directory.group.snapshot') replaySnapshot(event, position, group);
  }
}

function replaySnapshot(event: RawEvent, position: number, group: Group): void {
  for (const member of event.data.members ?? []) group.members.set(member.id, position);
  const { part } = event.data;
  const key = JSON.stringify([event.source, part?.snapshotId, part?.count]);
  const arrived = (part && group.parts.get(key)) ?? new Map<number, number>();
  arrived.set(part?.index ?? 0, position);
  if (part !== undefined) group.parts.set(key, arrived);
  if (arrived.size < (part?.count ?? 1)) return;
  const first = Math.min(...arrived.values());
  for (const [member, at] of group.members) if (at < first) group.members.delete(member);
}

/** By instant, then sequence (absent first), then id as bytes, then source. */
function byOrder(a: RawEvent, b: RawEvent): number {
  const instants = instantOf(a.time) - instantOf(b.time);
  if (instants !== 0n) return instants < 0n ? -1 : 1;
  const sequences = BigInt(a.sequence ?? -1) - BigInt(b.sequence ?? -1);
  if (sequences !== 0n) return sequences < 0n ? -1 : 1;
  return Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) || (a.source < b.source ? -1 : 1);
}

/** Nanoseconds since 1970. */
function instantOf(time: string): bigint {
  const [, fraction = ''] = /\.(\d+)/.exec(time) ?? [];
  const seconds = Date.parse(time.replace(/\.\d+/, ''));
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}
