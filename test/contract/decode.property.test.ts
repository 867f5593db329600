import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DEAD_LETTER_CODES } from '../../shared/contract/names.ts';
import { always } from '../support/engine/runs.ts';
import { decode } from './decoding.ts';

const example = (name: string) => readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
const someLines = (name: string, every: number) =>
  example(name)
    .trim()
    .split('\n')
    .filter((_, index) => index % every === 0);

/** Expects that each event is accepted, ignored, or rejected in a form that the dead-letter queue accepts. */
function expectHandled(body: string): void {
  const { events, ignored, rejected } = decode(body);
  expect(events.length + ignored + rejected.length).toBeGreaterThan(0);
  for (const rejection of rejected) {
    expect(DEAD_LETTER_CODES).toContain(rejection.code);
    expect(rejection.message).not.toBe('');
    expect(typeof rejection.body).toBe('string');
  }
}

type Fields = Record<string, unknown>;
const EVENTS = [
  ...someLines('company.events.jsonl', 40),
  ...someLines('okta-eventbridge.jsonl', 1).map((line) => JSON.stringify(JSON.parse(line).detail)),
];
const wrong = fc.oneof(fc.jsonValue(), fc.constantFrom('', '__proto__', null, 7, [], {}, undefined));

/** Returns every object and list in a value, with each of their keys. */
const placesIn = (value: unknown): (readonly [Fields, string])[] =>
  value === null || typeof value !== 'object'
    ? []
    : Object.keys(value).flatMap((key) => [
        [value as Fields, key] as const,
        ...placesIn((value as Fields)[key]),
      ]);

/** Generates events of every format in which up to three values are wrong or missing. */
const nearlyEvent = fc
  .tuple(fc.constantFrom(...EVENTS), fc.array(fc.tuple(fc.nat(), wrong), { minLength: 1, maxLength: 3 }))
  .map(([text, changes]) => {
    const event = JSON.parse(text);
    for (const [at, value] of changes) {
      const places = placesIn(event);
      const [holder, key] = places[at % places.length] ?? [event, 'id'];
      holder[key] = value;
    }
    return event;
  });

const wrapped = fc.oneof(
  nearlyEvent,
  fc.array(nearlyEvent, { maxLength: 4 }),
  nearlyEvent.map((event) => ({ Type: 'Notification', Message: JSON.stringify(event) })),
  nearlyEvent.map((detail) => ({
    'detail-type': 'SystemLog',
    detail,
    time: '2026-11-20T10:00:00Z',
    id: 'b',
  })),
  nearlyEvent.map((event) => ({ eventType: 'com.okta.event_hook', data: { events: [event] } })),
);

always(
  'decodeMessage never throws for any text',
  fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), expectHandled),
  100,
);

it('decodeMessage never throws for a value that resembles a known event, in any envelope', () => {
  fc.assert(
    fc.property(wrapped, (value) => expectHandled(JSON.stringify(value))),
    { numRuns: 1_500 },
  );
});

it('decodeMessage never throws for 200 valid bodies with one byte changed', () => {
  const bodies = [...someLines('company.events.jsonl', 8), ...someLines('okta-eventbridge.jsonl', 1)];
  expect(bodies.length).toBeGreaterThanOrEqual(200);
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 0, max: 255 }), (at, byte) => {
      for (const body of bodies.slice(0, 200)) {
        const bytes = Buffer.from(body);
        bytes[at % bytes.length] = byte;
        expectHandled(bytes.toString());
      }
    }),
    { numRuns: 10 },
  );
});

it('decodeMessage never throws for any message attributes', () => {
  const attribute = fc.option(fc.string(), { nil: undefined });
  const detail = { group: { id: 'g1', name: 'Sales' } };
  const body = JSON.stringify({ 'detail-type': 'directory.group.upserted', source: 'd', detail });
  fc.assert(
    fc.property(attribute, attribute, fc.string(), fc.double(), (connection, stamp, messageId, sentAtMs) => {
      const decoded = decode(body, { connection, stamp, messageId, sentAtMs });
      expect(decoded.events.length + decoded.rejected.length).toBe(1);
    }),
  );
});
