import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NATIVE_TYPES } from '../../shared/contract/events/native.ts';
import { DEAD_LETTER_CODES } from '../../shared/contract/names.ts';
import { always } from '../support/engine/runs.ts';
import { decode } from './decoding.ts';

const example = (name: string) => readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
const someLines = (name: string, every: number) =>
  example(name)
    .trim()
    .split('\n')
    .filter((_, index) => index % every === 0);

/**
 * Decodes a body. Expects that each event is accepted, ignored, or rejected in a form that the dead-letter queue
 * accepts.
 */
function expectHandled(body: string): void {
  const { events, ignored, rejected } = decode(body);
  expect(events.length + ignored + rejected.length).toBeGreaterThan(0);
  for (const rejection of rejected) {
    expect(DEAD_LETTER_CODES).toContain(rejection.code);
    expect(rejection.message).not.toBe('');
    expect(typeof rejection.body).toBe('string');
  }
}

const idOrNot = fc.oneof(
  fc.string(),
  fc.constantFrom('g1', '', '__proto__'),
  fc.integer(),
  fc.constant(null),
);
const memberOrNot = fc.oneof(
  fc.record({ id: idOrNot, email: fc.jsonValue() }, { requiredKeys: [] }),
  fc.jsonValue(),
);

/** Generates values that resemble events of every format. Any part may be missing or wrong. */
const nearlyEvent = fc.oneof(
  fc.record(
    {
      specversion: fc.constantFrom('1.0', '0.3', 1),
      id: idOrNot,
      source: idOrNot,
      type: fc.constantFrom(...NATIVE_TYPES, 'directory.x', 'shop.y', 7),
      time: fc.constantFrom('2026-11-20T10:00:00Z', '2036-01-01T00:00:00Z', 'soon', 7),
      sequence: fc.oneof(fc.string(), fc.integer(), fc.constantFrom('1', null)),
      connection: fc.constantFrom('default', 'A', '', null, 7),
      data: fc.oneof(
        fc.record(
          {
            group: fc.record({ id: idOrNot, name: idOrNot }, { requiredKeys: [] }),
            user: memberOrNot,
            members: fc.array(memberOrNot, { maxLength: 3 }),
            part: fc.record(
              { snapshotId: idOrNot, index: fc.integer(), count: fc.integer() },
              { requiredKeys: [] },
            ),
          },
          { requiredKeys: [] },
        ),
        fc.jsonValue(),
      ),
    },
    { requiredKeys: ['specversion'] },
  ),
  fc.record(
    {
      uuid: idOrNot,
      published: fc.constantFrom('2026-11-20T10:00:00Z', 'soon'),
      eventType: fc.constantFrom(
        'group.user_membership.add',
        'group.profile.update',
        'user.lifecycle.deactivate',
        'x',
        7,
      ),
      target: fc.array(
        fc.record(
          {
            id: idOrNot,
            type: fc.constantFrom('User', 'UserGroup', 'AppUser', 7),
            alternateId: idOrNot,
            displayName: idOrNot,
          },
          { requiredKeys: [] },
        ),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ['uuid', 'published', 'eventType'] },
  ),
);

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
