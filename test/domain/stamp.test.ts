import { expect, it } from 'vitest';
import { MAX_PART_SPREAD_MS } from '../../shared/domain/fold.ts';
import { OPEN_GATE } from '../../shared/domain/gate.ts';
import { HOLD_LIFETIME_MS } from '../../shared/domain/hold.ts';
import {
  judgeAge,
  MAX_AGE_MS,
  MAX_AHEAD_MS,
  MAX_OPERATION,
  MAX_SEQUENCE_DIGITS,
  makeStamp,
  normaliseInstant,
  parseStamp,
  readStamp,
  type Stamp,
  stampTimeMs,
} from '../../shared/domain/stamp.ts';

it.each([
  ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000000000Z'],
  ['2026-11-20T10:00:00.123Z', '2026-11-20T10:00:00.123000000Z'],
  ['2026-11-20T10:00:00.1234567899Z', '2026-11-20T10:00:00.123456789Z'],
  ['2026-11-20t10:00:00z', '2026-11-20T10:00:00.000000000Z'],
  ['2026-11-20T11:30:00+01:30', '2026-11-20T10:00:00.000000000Z'],
  ['2026-11-20T05:00:00.5-05:00', '2026-11-20T10:00:00.500000000Z'],
  ['2027-01-01T00:30:00+01:00', '2026-12-31T23:30:00.000000000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000000000Z'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999999999Z'],
  ['2026-11-20T10:00:00-00:00', '2026-11-20T10:00:00.000000000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000000Z'],
])('normaliseInstant reads %s', (text, instant) => {
  expect(normaliseInstant(text)).toBe(instant);
});

it.each([
  '',
  'now',
  '2026-11-20',
  '2026-11-20T10:00:00',
  '2026-11-20 10:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T10:60:00Z',
  '2026-11-20T10:00:61Z',
  '2026-11-20T10:00:00.Z',
  '2026-11-20T10:00:00+24:00',
  '2026-11-20T10:00:00+01:60',
  '2026-11-20T10:00:00+0100',
  '0000-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
  '20261120T100000Z',
  '٢٠٢٦-11-20T10:00:00Z',
  '2026-11-20T10:00:00Z\n',
])('normaliseInstant refuses %j', (text) => {
  expect(normaliseInstant(text)).toBeUndefined();
});

const parts = {
  time: '2026-11-20T10:00:00.5Z',
  sequence: '042',
  id: 'e-1',
  source: 'okta/acme',
  operation: 3,
};

it('makeStamp writes every part in ASCII', () => {
  expect(makeStamp(parts)).toBe('2026-11-20T10:00:00.500000000Z.0242.652d31.6f6b74612f61636d65.00003');
  expect(makeStamp({ time: parts.time, id: 'ü', source: '' })).toBe(
    '2026-11-20T10:00:00.500000000Z.00.c3bc..00000',
  );
});

it.each([
  [{ time: 'yesterday' }, 'expected an RFC 3339 time'],
  [{ sequence: '-1' }, 'expected a sequence'],
  [{ sequence: '1'.repeat(33) }, 'expected a sequence'],
  [{ operation: 100_000 }, 'expected an operation'],
  [{ operation: 0.5 }, 'expected an operation'],
])('makeStamp refuses the parts %j', (wrong, message) => {
  expect(() => makeStamp({ ...parts, ...wrong })).toThrow(message);
});

it.each([
  '',
  '2026-11-20T10:00:00.500000000Z',
  '2026-99-99T10:00:00.500000000Z.00.65..00000',
  '2026-11-20T10:00:00.5Z.00.65..00000',
  '2026-11-20T10:00:00.500000000Z.0342.65..00000',
  '2026-11-20T10:00:00.500000000Z.0201.65..00000',
  '2026-11-20T10:00:00.500000000Z.99.65..00000',
  '2026-11-20T10:00:00.500000000Z.00.6..00000',
  '2026-11-20T10:00:00.500000000Z.00.ff..00000',
  '2026-11-20T10:00:00.500000000Z.00.6A..00000',
  '2026-11-20T10:00:00.500000000Z.00.65..00000 ',
  `2026-11-20T10:00:00.500000000Z.33${'1'.repeat(33)}.65..00000`,
])('readStamp and parseStamp refuse %j', (text) => {
  expect(parseStamp(text)).toBeUndefined();
});

const nowMs = Date.UTC(2026, 10, 20, 10);
const at = (ms: number): Stamp => makeStamp({ time: new Date(ms).toISOString(), id: 'e', source: 's' });

it.each([
  [nowMs, 'acceptable'],
  [nowMs + MAX_AHEAD_MS, 'acceptable'],
  [nowMs + MAX_AHEAD_MS + 1, 'time_in_future'],
  [nowMs - MAX_AGE_MS, 'acceptable'],
  [nowMs - MAX_AGE_MS - 1, 'too_old'],
])('judgeAge for an event of the time %d returns %s', (timeMs, age) => {
  expect(judgeAge(at(timeMs), nowMs)).toBe(age);
  expect(stampTimeMs(at(timeMs))).toBe(timeMs);
});

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const EXACT = { time: '2026-11-20T10:00:00.123456789Z', id: 'e', source: 's', operation: 0 };

it('the limits of the domain have their documented values', () => {
  expect(MAX_AHEAD_MS).toBe(5 * MINUTE_MS);
  expect(MAX_AGE_MS).toBe(400 * DAY_MS);
  expect(MAX_PART_SPREAD_MS).toBe(HOUR_MS);
  expect(HOLD_LIFETIME_MS).toBe(7 * DAY_MS);
  expect(OPEN_GATE).toEqual({ state: 'open', closings: 0 });
});

it.each([
  ['the largest sequence and the largest operation', MAX_OPERATION, '9'.repeat(MAX_SEQUENCE_DIGITS), 'e'],
  ['an id that begins with a byte order mark', 0, undefined, '\ufeffe'],
])('a stamp keeps %s', (_, operation, sequence, id) => {
  const kept = { ...EXACT, operation, sequence, id };
  expect(readStamp(makeStamp(kept))).toEqual(kept);
});

it('stampTimeMs returns whole milliseconds', () => {
  expect(stampTimeMs(makeStamp(EXACT))).toBe(Date.UTC(2026, 10, 20, 10, 0, 0, 123));
});
