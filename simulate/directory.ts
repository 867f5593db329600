import { readerEvents } from './google/reader-events.ts';
import { type DirectoryEvent, isScimKey, type OutgoingMessage, type ScimRequest } from './messages.ts';

export interface Reading {
  /** Groups that exist, by the engine's id. */
  readonly groups: ReadonlyMap<string, ReadGroup>;
  /** The latest e-mail address of each member that has one. */
  readonly emails: ReadonlyMap<string, string>;
  /** The latest employee number of each member that has one. */
  readonly numbers: ReadonlyMap<string, string>;
  /**
   * Members whose account is inactive in the directory. They stay in the directory groups, but groupsync does not write
   * them.
   */
  readonly inactive: ReadonlySet<string>;
  /** The time of the last event about each group or its members, including deleted groups. */
  readonly changedAtMs: ReadonlyMap<string, number>;
}

export interface ReadGroup {
  /** The name; undefined until an event contains one. groupsync does not write a group without a name. */
  readonly name: string | undefined;
  readonly members: ReadonlySet<string>;
  readonly changedAtMs: number;
}

/** An event, and its place in the order of all events of its connection. */
export interface Received {
  readonly directoryEvent: Omit<DirectoryEvent, 'order'>;
  /** Nanoseconds since 1970. */
  readonly instant: bigint;
  /** -1 if the event has no sequence. Such an event sorts first. */
  readonly sequence: bigint;
  readonly id: string;
  readonly source: string;
  readonly arrivedAtMs: number;
  /** The version of the resource in the answer to a SCIM request. */
  readonly version?: bigint;
}

/**
 * The longest time by which the time of a message may be in the future. The value is copied from the contract, so that
 * an error there is found.
 */
const MAX_AHEAD_MS = 5 * 60_000;

/** The answer of the SCIM server to a request. Its revision orders the requests. The answer to a deletion has none. */
export interface ScimAnswer {
  readonly atMs: number;
  readonly made?: string | undefined;
  /** `modifiedMs` is missing if the answer has no body. */
  readonly revision?: { readonly modifiedMs?: number | undefined; readonly number: bigint } | undefined;
}

/** A delivery of a message to ingest. */
export interface Arrived {
  readonly messageId: string;
  readonly body: string;
  /** The connection that the attribute of the message names. */
  readonly connection?: string | undefined;
  readonly atMs: number;
}

interface Sent {
  readonly message: OutgoingMessage;
  readonly messageId: string;
  readonly sentAtMs: number;
  counts: boolean;
}

/**
 * Records the events of the directory, and reads them in the simplest way: sorted, then one after the other. This code
 * shares nothing with the engine. Times are milliseconds since 1970.
 * @param readConnections connections whose directory is read; ingest ignores group events of other sources there
 */
export function createDirectoryRecord(readConnections: ReadonlySet<string> = new Set()) {
  const byId = new Map<string, Sent>();
  const byBody = new Map<string, Sent>();
  const received = new Map<string, Received[]>();
  const given = new Map<string, string>();
  const endedIds = new Set<string>();
  const readings = new Map<string, { readonly count: number; readonly reading: Reading }>();

  const receive = (connection: string, one: Received): void => {
    const all = received.get(connection) ?? [];
    received.set(connection, all);
    all.push(one);
  };

  const remember = (message: OutgoingMessage, as: { messageId: string; sentAtMs: number }): Sent => {
    const sent = { message, ...as, counts: false };
    byId.set(as.messageId, sent);
    byBody.set(message.body, sent);
    return sent;
  };
  /**
   * Messages of a reader are recorded when they arrive. The reader itself decides which messages it sends, so the run
   * does not contain them.
   */
  const sentByReader = (connection: string, body: string, messageId: string, sentAtMs: number) => {
    const events = readerEvents(body);
    if (events.length === 0) return undefined;
    return remember({ connection, body, events, delayMs: 0, copies: 1 }, { messageId, sentAtMs });
  };

  return {
    /** Records a message that was sent to the events queue. */
    sent(message: OutgoingMessage, as: { readonly messageId: string; readonly sentAtMs: number }) {
      const isIgnored = readConnections.has(message.connection);
      remember(isIgnored ? { ...message, events: [] } : message, as);
    },
    /**
     * Edits a dead-lettered message whose time is in the future, and sets its time to the present.
     * @returns the new body, or the given body if its time is not in the future
     */
    isEdited(body: string, atMs: number): string {
      const { message } = byBody.get(body) ?? {};
      const { time = '' } = message?.events[0]?.order ?? {};
      if (message === undefined || !(Date.parse(time) > atMs)) return body;
      const now = new Date(atMs).toISOString();
      const events = message.events.map((one) => ({ ...one, order: { ...one.order, time: now } }));
      const replacement = body.replace(time, now);
      byBody.set(replacement, {
        message: { ...message, events },
        messageId: '',
        sentAtMs: atMs,
        counts: false,
      });
      return replacement;
    },
    /**
     * Records that the events queue delivered a message to ingest, for a connection that exists. Only the first
     * delivery is recorded. A message whose time is more than 5 minutes ahead is not recorded, because ingest refuses
     * it. The message is found by its id, or else by its body, for example after a replay.
     */
    arrived({ messageId, body, connection = '', atMs }: Arrived) {
      const known = byId.get(messageId) ?? byBody.get(body);
      const isRead = known === undefined && readConnections.has(connection);
      const sent = isRead ? sentByReader(connection, body, messageId, atMs) : known;
      if (sent === undefined || sent.counts) return;
      const { message, sentAtMs } = sent;
      const all = message.events.map(({ order, ...directoryEvent }): Received => {
        const { time = new Date(sentAtMs).toISOString(), id = sent.messageId, sequence, source } = order;
        return {
          directoryEvent,
          instant: instantOf(time),
          sequence: BigInt(sequence ?? -1),
          id,
          source,
          arrivedAtMs: atMs,
        };
      });
      const latestMs = BigInt(atMs + MAX_AHEAD_MS);
      if (all.some(({ instant }) => instant / 1_000_000n > latestMs)) return;
      sent.counts = true;
      for (const one of all) receive(message.connection, one);
    },
    /**
     * Records a SCIM request that the server answered with 2xx, and the id `made` that the answer to a POST contains.
     * The revision in the answer orders requests that overlap.
     */
    requested(request: ScimRequest, answer: ScimAnswer) {
      const { connection, creates } = request;
      const { atMs, made, revision } = answer;
      if (creates !== undefined && made !== undefined) given.set(`${connection} ${creates.key}`, made);
      const id = made ?? given.get(`${connection} ${creates?.key}`) ?? '';
      for (const { order, ...directoryEvent } of request.events(id)) {
        const count = BigInt(received.get(connection)?.length ?? 0);
        receive(connection, {
          directoryEvent,
          instant: BigInt(revision?.modifiedMs ?? atMs) * 1_000_000n,
          sequence: revision?.number ?? count,
          id: directoryEvent.group ?? directoryEvent.members?.[0]?.id ?? '',
          source: order.source,
          arrivedAtMs: atMs,
          ...(revision !== undefined && { version: revision.number }),
        });
      }
      if (request.method === 'DELETE') {
        const ended = request.path.slice(request.path.lastIndexOf('/') + 1);
        endedIds.add(`${connection} ${ended}`);
        for (const [key, known] of given) if (known === ended) given.delete(key);
      }
    },
    /**
     * Records the id that the SCIM server gave to the resource `key` of the run. If `id` is undefined, the resource was
     * deleted.
     */
    learned(connection: string, key: string, id: string | undefined) {
      if (id === undefined) given.delete(`${connection} ${key}`);
      else given.set(`${connection} ${key}`, id);
    },
    /** Returns the engine's id of a group or member of the run; undefined if a SCIM resource does not exist. */
    idOf: (connection: string, key: string) => (isScimKey(key) ? given.get(`${connection} ${key}`) : key),
    /** Returns whether a SCIM request has deleted the resource with this id. */
    isEnded: (connection: string, id: string) => endedIds.has(`${connection} ${id}`),
    /** Returns all events of a connection, in the order of arrival. */
    received: (connection: string): readonly Received[] => received.get(connection) ?? [],
    /** Returns the reading of all events that had arrived by the given time (default: now). */
    read(connection: string, atMs = Number.POSITIVE_INFINITY): Reading {
      const all = (received.get(connection) ?? []).filter(({ arrivedAtMs }) => arrivedAtMs <= atMs);
      const known = readings.get(connection);
      if (known !== undefined && known.count === all.length) return known.reading;
      const reading = readAll(all);
      readings.set(connection, { count: all.length, reading });
      return reading;
    },
  };
}

interface Group {
  exists: boolean;
  name: string | undefined;
  /** By member: the position of the last event that added the member. */
  readonly members: Map<string, number>;
  readonly parts: Map<string, Map<number, number>>;
  changedAtMs: number;
}

/** Returns the result of all received events, independent of their order of arrival. */
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
  };
}

/**
 * Puts the SCIM requests about each resource into the order of its versions. The server may answer them in another
 * order.
 */
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

/**
 * Removes members that were deleted by SCIM from a later SCIM event. A client can create a deleted SCIM user only by a
 * POST, and the new user has another id.
 */
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
  // groupsync may know a member's groups before the employee number that finds the person. The number then changes
  // these groups.
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
 * Applies the last part of a snapshot. Each member that has no event since the first part, and that the snapshot does
 * not name, leaves the group.
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

/** Orders events by instant, then sequence (absent first), then id as bytes, then source. */
function byOrder(a: Received, b: Received): number {
  if (a.instant !== b.instant) return a.instant < b.instant ? -1 : 1;
  if (a.sequence !== b.sequence) return a.sequence < b.sequence ? -1 : 1;
  return (
    Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)) ||
    Buffer.compare(Buffer.from(a.source), Buffer.from(b.source))
  );
}

/**
 * If two events have equal stamps, the event whose kind is later in this list wins. So a leave or a deletion wins over
 * a join or a name.
 */
const TIED: readonly DirectoryEvent['kind'][] = [
  'profile',
  'snapshot',
  'name',
  'join',
  'leave',
  'forget',
  'delete',
];

/**
 * Orders events with equal stamps. Of two names, the smaller one wins, compared as UTF-8 bytes. Events of the kinds
 * `snapshot` and `name` both set a name.
 */
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
