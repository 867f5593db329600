import { isScimKey, type OutgoingMessage, type ScimRequest } from './messages.ts';
import { ownEvents, READER } from './reader/reader-events.ts';
import { instantOf, type Reading, type Received, readAll } from './reading.ts';

/** How far in the future a message may be. A copy, so that the checks notice a wrong value in the engine. */
const MAX_AHEAD_MS = 5 * 60_000;

/** The answer of the SCIM server to a request. */
interface ScimAnswer extends Pick<Received, 'sentBy' | 'askedAtMs'> {
  readonly atMs: number;
  readonly made?: string | undefined;
  /** `modifiedMs` is missing if the answer has no body. */
  readonly revision?: { readonly modifiedMs?: number | undefined; readonly number: bigint } | undefined;
}

interface Arrived {
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
 * Records the events of the directory, and reads them in the simplest way: sorts them, and applies one after the other.
 * This code shares nothing with the engine. Times are milliseconds since 1970.
 * @param readConnections connections with a reader; for these connections, ingest ignores group events of other sources
 * @param hasMoved whether another source than the reader owns the group now
 */
export function createDirectoryRecord(
  readConnections: ReadonlySet<string> = new Set(),
  hasMoved: (connection: string, group: string) => boolean = () => false,
) {
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
  /** A reader decides at run time which messages it sends. */
  const sentByReader = (connection: string, body: string, messageId: string, sentAtMs: number) => {
    const events = ownEvents(body);
    if (events.length === 0) return undefined;
    return remember({ connection, body, events, delayMs: 0, copies: 1 }, { messageId, sentAtMs });
  };

  return {
    sent(message: OutgoingMessage, as: { readonly messageId: string; readonly sentAtMs: number }) {
      remember(message, as);
    },
    /** Sets a future time of a dead-lettered message to the present. @returns the body */
    withPresentTime(body: string, atMs: number): string {
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
     * Records the first delivery of a message to ingest, for a connection that exists. A message whose time is more
     * than 5 minutes ahead is not recorded, because ingest refuses it. The function finds the sent message by its id,
     * or by its body if the id is unknown, for example after a replay.
     */
    arrived({ messageId, body, connection = '', atMs }: Arrived) {
      const known = byId.get(messageId) ?? byBody.get(body);
      const isRead = known === undefined && readConnections.has(connection);
      const sent = isRead ? sentByReader(connection, body, messageId, atMs) : known;
      if (sent === undefined || sent.counts) return;
      const { message, sentAtMs } = sent;
      const counts = ({ group = '', order }: (typeof message.events)[number]) =>
        !readConnections.has(message.connection) ||
        order.source === READER ||
        hasMoved(message.connection, group);
      const all = message.events.filter(counts).map(({ order, ...directoryEvent }): Received => {
        const { time = new Date(sentAtMs).toISOString(), id = sent.messageId, sequence, source } = order;
        return {
          directoryEvent,
          instant: instantOf(time),
          sequence: BigInt(sequence ?? -1),
          id,
          source,
          arrivedAtMs: atMs,
          sentBy: message.sentBy,
        };
      });
      const latestMs = BigInt(atMs + MAX_AHEAD_MS);
      if (all.some(({ instant }) => instant / 1_000_000n > latestMs)) return;
      sent.counts = true;
      for (const one of all) receive(message.connection, one);
    },
    /** Records a SCIM request that the server answered with 2xx. `made` is the id in the answer to a POST. */
    requested(request: ScimRequest, answer: ScimAnswer) {
      const { connection, creates } = request;
      const { atMs, made, revision, sentBy, askedAtMs } = answer;
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
          sentBy,
          askedAtMs,
          ...(revision !== undefined && { version: revision.number }),
        });
      }
      if (request.method === 'DELETE') {
        const ended = request.path.slice(request.path.lastIndexOf('/') + 1);
        endedIds.add(`${connection} ${ended}`);
        for (const [key, known] of given) if (known === ended) given.delete(key);
      }
    },
    /** Records the id that the SCIM server gave to the resource `key` of the run. */
    learned(connection: string, key: string, id: string | undefined) {
      if (id === undefined) given.delete(`${connection} ${key}`);
      else given.set(`${connection} ${key}`, id);
    },
    /** Returns the engine's id of a group or member of the run; undefined if a SCIM resource does not exist. */
    idOf: (connection: string, key: string) => (isScimKey(key) ? given.get(`${connection} ${key}`) : key),
    isEnded: (connection: string, id: string) => endedIds.has(`${connection} ${id}`),
    received: (connection: string): readonly Received[] => received.get(connection) ?? [],
    /** Returns the groups of the reference model after all events that arrived until the given time (default: now). */
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
