import { readCloudEvent, readEventBridge, readOktaHook, readSns } from './adapters/envelopes.ts';
import { readOkta } from './adapters/okta.ts';
import { type Adapter, type Envelope, IGNORED, invalid, type Reading } from './adapters/reading.ts';
import { readScimGroup, readScimPatch } from './adapters/scim.ts';
import { MAX_ENVELOPES } from './events/bounds.ts';
import { parseJson } from './json.ts';

/** The time and id that place an event in the order. */
export interface Place {
  readonly time: string;
  readonly id: string;
}

/**
 * Time and id come from the innermost level that has a time. The levels are the event, its envelopes and the delivery.
 * If that level has no id, the id of the next level around it is used. An id without a time is ignored, because it may
 * be the id of a resource.
 */
export function placeWithin(
  outer: Place | undefined,
  { time, id = outer?.id }: { readonly time?: string | undefined; readonly id?: string | undefined },
): Place | undefined {
  if (time === undefined) return outer;
  return id === undefined ? undefined : { time, id };
}

/** The properties that an envelope adds to an event. */
export interface Wrapping {
  /** undefined if the attribute `stamp` cannot be read. Then only an event with its own time and id is accepted. */
  readonly place: Place | undefined;
  readonly connection: string | undefined;
  /** The event as a separate message: the body as received, or the text of the event if the body is a list. */
  readonly body: () => string;
}

/** One part of a message: an event, a part to ignore, or an error. */
export interface Piece extends Wrapping {
  readonly reading: Exclude<Reading, Envelope>;
}

/** The first adapter that knows the shape of a value reads it. A CloudEvent may contain any data, so it is first. */
const ADAPTERS: readonly Adapter[] = [
  readCloudEvent,
  readSns,
  readEventBridge,
  readOktaHook,
  readOkta,
  readScimPatch,
  readScimGroup,
];

const UNRECOGNISED = invalid(
  'expected a CloudEvent, an SNS or EventBridge envelope, an Okta System Log event, or a SCIM PatchOp or Group',
);

interface Level extends Wrapping {
  readonly envelopes: number;
  readonly inList: boolean;
  readonly carriesAnything: boolean;
}

/** Unwraps every envelope and list of a message's body, lazily. Yields at least one piece, and never throws. */
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
    const reading = invalid(`expected at most ${MAX_ENVELOPES} envelopes within each other`);
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

function read(value: unknown): Reading | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const adapter of ADAPTERS) {
    const reading = adapter(value as Readonly<Record<string, unknown>>);
    if (reading !== undefined) return reading;
  }
  return undefined;
}
