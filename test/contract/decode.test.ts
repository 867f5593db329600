import { expect, it } from 'vitest';
import { EDITED_SOURCE } from '../../shared/contract/decode.ts';
import { MAX_JSON_DEPTH } from '../../shared/contract/events/bounds.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { makeStamp, readStamp } from '../../shared/domain/stamp.ts';
import { decode, native, problemsOf, SENT_AT, SENT_MS } from './decoding.ts';

const deleted = (id: string, attributes: object = {}) =>
  native('group.deleted', { group: { id } }, { id: `e-${id}`, ...attributes });

it.each(['', ' ', '{', '[1,', 'hello', '{"a":1}}', "{'a':1}", '\u{feff}{}', 'NaN', '\0', '"\ud800'])(
  'the body %j is rejected as invalid_json',
  (body) => {
    const { events, rejected } = decode(body);
    expect(events).toEqual([]);
    expect(rejected).toMatchObject([{ code: 'invalid_json', body }]);
  },
);

it.each([
  'null',
  'true',
  '42',
  '"text"',
  '{}',
  '[]',
  '[[]]',
  '[null]',
  '{"type":"directory.group.deleted"}',
  '{"schemas":[]}',
])('the body %s is rejected as invalid_event', (body) => {
  expect(problemsOf(body)).toEqual([expect.stringMatching(/^invalid_event: /)]);
});

it('the error about a body does not quote it', () => {
  const told = 'invalid_json: expected JSON, got 16 characters of other text';
  expect(problemsOf('ann@acme.example')).toEqual([told]);
});

it.each([' ', '\u{200b}', '\u{feff}', '\u{200b} \u{2060}', '\u{3164}'])(
  'the name %j is refused, because it has no visible character',
  (name) => {
    const expected = 'expected a name with a visible character, got text of';
    const upserted = native('group.upserted', { group: { id: 'g1', name } });
    const snapshot = native('group.snapshot', { group: { id: 'g1', name }, members: [] });
    for (const body of [upserted, snapshot]) {
      expect(problemsOf(body)).toEqual([expect.stringContaining(expected)]);
    }
  },
);

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

it('JSON is accepted up to the maximum depth, and refused if it is deeper', () => {
  const withExtra = (extra: string) =>
    JSON.stringify(deleted('g1', { extra: 0 })).replace('"extra":0', `"extra":${extra}`);
  expect(decode(withExtra(nested(MAX_JSON_DEPTH - 1))).events).toHaveLength(1);
  const text = JSON.stringify(`\\"${'['.repeat(MAX_JSON_DEPTH)}"]}`);
  expect(decode(withExtra(text)).events).toHaveLength(1);
  expect(problemsOf(withExtra(nested(MAX_JSON_DEPTH)))).toEqual([
    'invalid_event: expected JSON nested at most 32 levels deep',
  ]);
});

it('very deep nesting is refused without recursion', () => {
  expect(problemsOf('['.repeat(1_000_000))).toEqual([expect.stringMatching(/^invalid_event: .*32 levels/)]);
  expect(problemsOf('{"a":'.repeat(200_000))).toHaveLength(1);
});

it('the depth is checked again for the text that an envelope contains', () => {
  const body = { Type: 'Notification', Message: nested(MAX_JSON_DEPTH + 1) };
  expect(problemsOf(body)).toEqual(['invalid_event: expected JSON nested at most 32 levels deep']);
});

it('valid events are accepted, and each invalid event is rejected with its own text', () => {
  const unknown = native('x', {});
  const list = [deleted('g1'), unknown, { ...unknown, type: 'shop.x' }, 7, deleted('g2')];
  const { events, ignored, rejected } = decode(list);
  expect(events.map(({ id }) => id)).toEqual(['e-g1', 'e-g2']);
  expect(ignored).toBe(1);
  expect(rejected).toMatchObject([
    { code: 'unknown_type', body: JSON.stringify(unknown) },
    { code: 'invalid_event', body: '7' },
  ]);
});

it('an array of 10,000 events is accepted, and an array with more is rejected as too large', () => {
  const list = Array.from({ length: 10_000 }, () => deleted('g'));
  expect(decode(list).events).toHaveLength(10_000);
  const body = JSON.stringify([...list, deleted('g')]);
  const { events, rejected } = decode(body);
  expect(events).toEqual([]);
  expect(rejected).toMatchObject([
    { code: 'too_large', body, message: 'expected at most 10000 events in one message' },
  ]);
  expect(rejected).toHaveLength(1);
});

it.each([
  ['2026-11-20T12:05:00Z', []],
  ['2026-11-20T12:05:00.001Z', ['time_in_future: time: expected at most 5 minutes after the receipt']],
  ['2025-10-16T12:00:00Z', []],
  ['2025-10-16T11:59:59.999Z', ['too_old: time: expected at most 400 days before the receipt']],
])('an event of %s, received at noon on 20 November 2026, has the problems %j', (time, problems) => {
  expect(problemsOf(deleted('g1', { time }))).toEqual(problems);
});

it('the age of an event is measured at its receipt, not at its sending', () => {
  expect(problemsOf(deleted('g1'), { receivedAtMs: SENT_MS + 401 * 86_400_000 })).toEqual([
    expect.stringMatching(/^too_old/),
  ]);
});

const joined = (attributes: object) =>
  native('group.member.added', { group: { id: 'g' }, members: [{ id: 'u', ...attributes }] });

it.each([{ email: 'a\ud800' }, { '\udc00': 'a' }, { '\ud800': '\udc00' }])(
  'the attributes %j are refused, because a lone surrogate is not valid Unicode',
  (one) => {
    expect(problemsOf(joined(one))).toEqual([
      'invalid_event: data.members.0: expected attributes that are valid Unicode',
    ]);
  },
);

it('an event belongs to the connection that it names, else to the connection of the message attribute, else to default', () => {
  const connectionOf = (event: unknown, connection?: string) =>
    decode(event, { connection }).events[0]?.connection;
  expect(connectionOf(deleted('g1', { connection: 'a' }), 'b')).toBe('a');
  expect(connectionOf(deleted('g1'), 'b')).toBe('b');
  expect(connectionOf(deleted('g1'))).toBe('default');
});

it.each(['', 'Acme', 'a b', 'x'.repeat(33), 'ü', 'a\n'])('%j is no connection name', (connection) => {
  expect(problemsOf(deleted('g1'), { connection })).toEqual([
    'invalid_event: connection: expected a name [a-z0-9-]{1,32}',
  ]);
});

it('an unknown connection rejects only the events that name it', () => {
  const list = [deleted('g1', { connection: 'gone' }), deleted('g2')];
  const { events, rejected } = decode(list, { knowsConnection: (name) => name !== 'gone' });
  expect(events).toMatchObject([{ connection: 'default' }]);
  expect(rejected).toMatchObject([{ code: 'unknown_connection', body: JSON.stringify(list[0]) }]);
});

it('a rejected event keeps the connection of the envelope that contained it', () => {
  const sns = {
    Type: 'Notification',
    Message: '[{}]',
    MessageAttributes: { connection: { Type: 'String', Value: 'acme-eu' } },
  };
  expect(decode(sns).rejected).toMatchObject([{ body: '{}', connection: 'acme-eu' }]);
});

it('a message that names another connection than its queue is rejected as a whole, and keeps its stamp', () => {
  const list = [deleted('g1'), deleted('g2')];
  const bound = { queue: 'events-okta', to: connectionName('acme') };
  const [refused, ...others] = decode(list, { connection: 'beta', bound }).rejected;
  expect([refused?.code, others]).toEqual(['wrong_connection', []]);
  expect(problemsOf(list, { bound: { ...bound, to: undefined } })[0]).toMatch(
    /events-okta belongs to no source/,
  );
  const resent = { connection: 'beta', messageId: 'm9', sentAtMs: SENT_MS + 1_000, stamp: refused?.stamp };
  expect(decode(list, resent)).toEqual(decode(list, { connection: 'beta' }));
});

it('a sender id that is longer than an ARN is truncated', () => {
  expect(decode(deleted('g1'), { sentBy: 'a'.repeat(9_999) }).events[0]?.actor?.by).toHaveLength(2_048);
});

it('the stamp of an event with a time does not depend on SentTimestamp, message id or the attribute stamp', () => {
  const stamp = `${SENT_AT}.00.6d31..00007`;
  const elsewhere = decode(deleted('g1'), { messageId: 'm2', sentAtMs: 0, stamp });
  expect(elsewhere).toEqual(decode(deleted('g1')));
});

it('a rejected event with its own time has no stamp attribute, unless an operator edited it', () => {
  const bad = deleted('g1', { time: '2000-01-01T00:00:00Z' });
  expect(decode(bad).rejected[0]).not.toHaveProperty('stamp');
  const edit = makeStamp({ time: SENT_AT, id: 'm1', source: EDITED_SOURCE, operation: 3 });
  for (const body of [bad, { ...bad, data: 'unreadable' }]) {
    const { stamp } = decode(body, { stamp: edit }).rejected[0] ?? {};
    expect(readStamp(stamp ?? '')).toMatchObject({ source: EDITED_SOURCE, operation: 3 });
    expect(decode(body, { stamp }).rejected[0]?.stamp).toBe(stamp);
  }
});
