import { readCloudEvent, readEventBridge, readOktaHook, readSns } from './adapters/envelopes.ts';
import { readOkta } from './adapters/okta.ts';
import { type Adapter, type Envelope, IGNORED, invalid, type Reading } from './adapters/reading.ts';
import { readScimGroup, readScimPatch } from './adapters/scim.ts';
import { MAX_ENVELOPES } from './events/bounds.ts';
import { parseJson } from './json.ts';

/** When and as what something was said. */
export interface Place {
  readonly time: string;
  readonly id: string;
}

/**
 * The one rule of place: the innermost that carries a time decides, be it the event, an envelope or the delivery, and
 * only an id that it lacks is taken from around it. An id without a time may be anything's, such as a resource's.
 */
export function placeWithin(
  outer: Place | undefined,
  { time, id = outer?.id }: { readonly time?: string | undefined; readonly id?: string | undefined },
): Place | undefined {
  if (time === undefined) return outer;
  return id === undefined ? undefined : { time, id };
}

/** What the envelope adds to an event. */
export interface Wrapping {
  /** undefined if the message's attribute `stamp` cannot be read: only an event that needs none of it is accepted. */
  readonly place: Place | undefined;
  readonly connection: string | undefined;
  /** The event as a message of its own: the body as it came, or its own text if it came among others. */
  readonly body: () => string;
}

/** One thing within a message: an event, something to ignore, or something wrong. */
export interface Piece extends Wrapping {
  readonly reading: Exclude<Reading, Envelope>;
}

/** In this order: the first whose shape it is decides. A CloudEvent may hold anything, so it comes first. */
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

/** Takes every envelope and list off a message's body, lazily. Yields at least one piece, and never throws. */
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
