import { readCloudEvent, readEventBridge, readOktaHook, readSns } from './adapters/envelopes.ts';
import { readOkta } from './adapters/okta.ts';
import { type Adapter, type Envelope, IGNORED, invalid, type MessageReading } from './adapters/reading.ts';
import { MAX_ENVELOPES } from './events/bounds.ts';
import { parseJson } from './json.ts';

/** The time and the id that decide the position of an event in the order of all events. */
export interface EventPlace {
  readonly time: string;
  readonly id: string;
}

/**
 * Returns the time and id of a level, or of the level around it (`outer`). The levels are the event, its envelopes and
 * the delivery. The innermost level with a time counts. If it has no id, it gets the id of the level around it. An id
 * without a time is ignored, because it may be the id of a resource.
 */
export function placeWithin(
  outer: EventPlace | undefined,
  { time, id = outer?.id }: { readonly time?: string | undefined; readonly id?: string | undefined },
): EventPlace | undefined {
  if (time === undefined) return outer;
  return id === undefined ? undefined : { time, id };
}

/** The properties that an envelope adds to an event. */
interface Wrapping {
  /**
   * The time and id that the envelopes give; undefined if the attribute `stamp` cannot be read. In that case, only an
   * event with its own time and id is accepted.
   */
  readonly place: EventPlace | undefined;
  readonly connection: string | undefined;
  /** Returns the message body for this event alone: the received body, or one item of a received list. */
  readonly body: () => string;
}

/** One part of a message: an event, a part to ignore, or an error. */
export interface Piece extends Wrapping {
  readonly reading: Exclude<MessageReading, Envelope>;
}

/** The first adapter that recognises a value reads it. A CloudEvent may contain any data, so its adapter is first. */
const ADAPTERS: readonly Adapter[] = [readCloudEvent, readSns, readEventBridge, readOktaHook, readOkta];

const UNRECOGNISED = invalid(
  'expected a CloudEvent, an SNS or EventBridge envelope, or an Okta System Log event',
);

interface Level extends Wrapping {
  readonly envelopes: number;
  readonly inList: boolean;
  readonly carriesAnything: boolean;
}

/** Unwraps every envelope and list of a message's body. The generator yields at least one piece and does not throw. */
export function* unwrap(whole: Wrapping): Generator<Piece> {
  yield* unwrapText(whole.body(), { ...whole, envelopes: 0, inList: false, carriesAnything: false });
}

function* unwrapText(text: string, level: Level): Generator<Piece> {
  const parsed = parseJson(text);
  if (parsed.ok) yield* unwrapValue(parsed.value, level);
  else yield { ...level, reading: invalid(parsed.message, parsed.code) };
}

function* unwrapValue(value: unknown, level: Level): Generator<Piece> {
  if (Array.isArray(value)) {
    yield* unwrapList(value, level);
    return;
  }
  const reading = read(value);
  if (reading?.kind === 'envelope') yield* unwrapEnvelope(reading, level);
  else yield { ...level, reading: reading ?? (level.carriesAnything ? IGNORED : UNRECOGNISED) };
}

function* unwrapList(list: readonly unknown[], level: Level): Generator<Piece> {
  if (level.inList) yield { ...level, reading: invalid('expected an event, got a list within a list') };
  else if (list.length === 0)
    yield { ...level, reading: invalid('expected at least one event, got an empty list') };
  else {
    for (const item of list) {
      yield* unwrapValue(item, { ...level, inList: true, body: () => JSON.stringify(item) });
    }
  }
}

function* unwrapEnvelope(envelope: Envelope, outer: Level): Generator<Piece> {
  if (outer.envelopes === MAX_ENVELOPES) {
    const reading = invalid(`expected at most ${MAX_ENVELOPES} nested envelopes`);
    yield { ...outer, reading };
    return;
  }
  const { content, connection, carriesAnything } = envelope;
  const level: Level = {
    ...outer,
    place: placeWithin(outer.place, envelope),
    connection: connection ?? outer.connection,
    envelopes: outer.envelopes + 1,
    inList: false,
    carriesAnything,
  };
  if ('json' in content) yield* unwrapText(content.json, level);
  else yield* unwrapValue(content.value, level);
}

function read(value: unknown): MessageReading | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const adapter of ADAPTERS) {
    const reading = adapter(value as Readonly<Record<string, unknown>>);
    if (reading !== undefined) return reading;
  }
  return undefined;
}
