import type { EventsReport, LineError, OtherSource } from '../contract/answers/files.ts';
import { type DecodedMessage, decodeMessage } from '../contract/decode.ts';
import type { ConnectionName, GroupId, GroupRef } from '../domain/ids.ts';
import { once } from '../domain/once.ts';
import { MAX_OPERATION, makeStamp, type Stamp } from '../domain/stamp.ts';
import { decodeForKnownConnections } from '../sync/ingest/accept.ts';
import type { ConnectionStore, ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { type JournalPorts, journalOf, recordAction } from './journal.ts';
import { type OtherSourcePorts, ofOtherSources } from './other-source.ts';

export interface EventLine {
  readonly line: number;
  readonly text: string;
}

const MAX_ERRORS = 1_000;
/** The maximum size of a message. SQS accepts 1 MiB, including the attributes. Emulators accept a little less. */
const MAX_MESSAGE_BYTES = 1_000_000;
const BATCH = 100;

type EventsPorts = Pick<ToolPorts, 'events' | 'clock' | 'newId' | 'connections'> & OtherSourcePorts;

export interface Validating {
  readonly connection?: ConnectionName | undefined;
  readonly clock: () => number;
  /** Undefined without a deployment. The names of connections are then not checked. */
  readonly connections: Pick<ConnectionStore, 'find'> | undefined;
}

export async function validateEvents(lines: AsyncIterable<EventLine>, validating: Validating) {
  const { connection, clock, connections } = validating;
  const totals = createTotals();
  const known = new Map<ConnectionName, Promise<Connection | undefined>>();
  const find = (name: ConnectionName) => {
    const found = known.get(name) ?? Promise.resolve(connections?.find(name));
    known.set(name, found);
    return found;
  };
  for await (const line of lines) {
    const judgement = judgeLine(line, clock());
    const isDecoded = connections !== undefined && judgement.problems.length === 0;
    const message = { ...messageOf(line, clock()), connection };
    const decoded = isDecoded
      ? await decodeForKnownConnections(message, { clock, connections: { find } })
      : undefined;
    totals.judge(line, decoded === undefined ? judgement : judgementOf(decoded));
  }
  return totals.report();
}

interface SendOptions {
  readonly connection?: ConnectionName | undefined;
  readonly keptBy: ConnectionName;
  readonly signal?: AbortSignal;
}

const STOPPED = 'stopped: this line and all later lines were not sent';

/**
 * Publishes a file of events, one message per line. Each message gets a stamp for its position in the file, which
 * events without a time use: SQS does not keep the order of messages that are sent in the same millisecond. Invalid
 * lines are reported and not sent. The names of connections are not checked. Lines that name no connection get
 * `connection`. The journal of `keptBy` records the action.
 */
export async function sendEvents(
  lines: AsyncIterable<EventLine>,
  { connection, keptBy, signal }: SendOptions,
  ports: EventsPorts & JournalPorts,
): Promise<EventsReport> {
  const totals = createTotals();
  const named = createNamed(connection);
  const nextPlace = createPlaces(ports);
  let batch: StampedLine[] = [];
  const sent = { events: 0, messages: 0 };
  let last = 0;
  const change = {
    kind: 'send_events',
    before: null,
    after: null,
    reason: 'from a file, one message per line',
  };
  const action = { action: 'events_send' as const, changes: [change] };
  const record = once(() => recordAction(journalOf(keptBy), action, ports));
  const flush = async () => {
    await record();
    const done = await sendBatch(batch, connection, totals, ports);
    sent.events += done.events;
    sent.messages += done.messages;
    batch = [];
  };
  for await (const line of lines) {
    last = line.line;
    const judgement = judgeLine(line, ports.clock());
    if (!totals.judge(line, judgement)) continue;
    named.add(judgement.groups);
    batch.push({ ...line, stamp: nextPlace(judgement.places), events: judgement.events });
    if (signal?.aborted) break;
    if (batch.length === BATCH) await flush();
  }
  // After an interruption, no more input is read, because the input may be endless.
  const unsent = batch.length > 0 ? batch : [{ line: last + 1 }];
  if (signal?.aborted) for (const { line } of unsent) totals.refuse(line, STOPPED);
  else if (batch.length > 0) await flush();
  return { ...totals.report(), ...sent, ...(await named.ofOthers(ports)) };
}

function createNamed(given: ConnectionName | undefined) {
  const named = new Map<ConnectionName, Set<GroupId>>();
  return {
    add(groups: readonly GroupRef[]): void {
      for (const { connection, group } of groups) {
        const name = given ?? connection;
        named.set(name, (named.get(name) ?? new Set()).add(group));
      }
    },
    async ofOthers(ports: EventsPorts): Promise<Pick<EventsReport, 'otherSources'>> {
      const found: OtherSource[] = [];
      for (const [name, groups] of named) {
        const known = await ports.connections.find(name);
        if (known !== undefined) found.push(...(await ofOtherSources(known, [...groups], ports)));
      }
      return found.length === 0 ? {} : { otherSources: found };
    },
  };
}

interface StampedLine extends EventLine {
  readonly stamp: Stamp;
  readonly events: number;
}

/** @returns the number of events and messages that the queue accepted. The refused lines are added to `totals` */
async function sendBatch(
  batch: readonly StampedLine[],
  connection: ConnectionName | undefined,
  totals: ReturnType<typeof createTotals>,
  ports: EventsPorts,
) {
  const sent = { events: 0, messages: 0 };
  const outcomes = await ports.events.send(
    batch.map(({ text, stamp }) => ({ body: text, connection, stamp })),
  );
  for (const [position, { line, events }] of batch.entries()) {
    const outcome = outcomes[position];
    if (outcome?.messageId === undefined) {
      totals.refuse(line, outcome?.refused ?? 'the queue did not accept it');
      continue;
    }
    sent.events += events;
    sent.messages += 1;
  }
  return sent;
}

/** Returns a function that creates stamps in ascending order. Each stamp leaves room for the operations of its line. */
function createPlaces({ clock, newId }: EventsPorts): (operations: number) => Stamp {
  const [time, id] = [new Date(clock()).toISOString(), newId()];
  let [block, operation] = [0, 0];
  return (operations) => {
    if (operation + operations > MAX_OPERATION) [block, operation] = [block + 1, 0];
    const place = { time, id: `${id}.${String(block).padStart(9, '0')}`, source: '', operation };
    operation += operations;
    return makeStamp(place);
  };
}

interface Judgement {
  readonly events: number;
  /** The number of operations for which the stamp must leave room. */
  readonly places: number;
  readonly problems: readonly string[];
  readonly groups: readonly GroupRef[];
}

function judgeLine({ text }: EventLine, nowMs: number): Judgement {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_MESSAGE_BYTES) {
    const problem = `too_large: expected at most ${MAX_MESSAGE_BYTES} bytes, got ${bytes}`;
    return { events: 0, places: 0, problems: [problem], groups: [] };
  }
  return judgementOf(decodeMessage({ ...messageOf({ text }, nowMs), receivedAtMs: nowMs }));
}

const messageOf = ({ text }: Pick<EventLine, 'text'>, nowMs: number) => ({
  body: text,
  messageId: 'line',
  sentAtMs: nowMs,
});

function judgementOf({ events, ignored, rejected }: DecodedMessage): Judgement {
  const problems = rejected.map(({ code, message: why }) => `${code}: ${why}`);
  const groups = events.flatMap(({ connection, change }) =>
    'group' in change ? [{ connection, group: change.group }] : [],
  );
  return { events: events.length, places: events.length + ignored, problems, groups };
}

export function createErrors() {
  const errors: LineError[] = [];
  let errorCount = 0;
  return {
    add(line: number, message: string): void {
      errorCount += 1;
      if (errors.length < MAX_ERRORS) errors.push({ line, message });
    },
    result: () => ({ errors, errorCount }),
  };
}

function createTotals() {
  const errors = createErrors();
  let events = 0;
  let messages = 0;
  return {
    refuse: errors.add,
    judge({ line }: EventLine, { events: count, problems }: Judgement): boolean {
      for (const problem of problems) errors.add(line, problem);
      if (problems.length > 0) return false;
      events += count;
      messages += 1;
      return true;
    },
    report: (): EventsReport => ({ events, messages, ...errors.result() }),
  };
}
