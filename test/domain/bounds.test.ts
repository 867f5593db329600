import { expect, it } from 'vitest';
import { MAX_PART_SPREAD_MS } from '../../shared/domain/fold.ts';
import { OPEN_GATE } from '../../shared/domain/gate.ts';
import { HOLD_LIFETIME_MS } from '../../shared/domain/hold.ts';
import {
  MAX_AGE_MS,
  MAX_AHEAD_MS,
  MAX_OPERATION,
  MAX_SEQUENCE_DIGITS,
  makeStamp,
  readStamp,
  stampTimeMs,
} from '../../shared/domain/stamp.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const parts = { time: '2026-11-20T10:00:00.123456789Z', id: 'e', source: 's', operation: 0 };

it('the limits of the domain have their documented values', () => {
  expect(MAX_AHEAD_MS).toBe(5 * MINUTE_MS);
  expect(MAX_AGE_MS).toBe(400 * DAY_MS);
  expect(MAX_PART_SPREAD_MS).toBe(HOUR_MS);
  expect(HOLD_LIFETIME_MS).toBe(7 * DAY_MS);
  expect(OPEN_GATE).toEqual({ state: 'open', closings: 0 });
});

it('the largest sequence and the largest operation are allowed', () => {
  const sequence = '9'.repeat(MAX_SEQUENCE_DIGITS);
  const most = { ...parts, operation: MAX_OPERATION, sequence };
  expect(readStamp(makeStamp(most))).toEqual(most);
});

it('a stamp keeps an id that begins with a byte order mark', () => {
  const marked = { ...parts, id: '\ufeffe', sequence: undefined };
  expect(readStamp(makeStamp(marked))).toEqual(marked);
});

it('stampTimeMs returns whole milliseconds', () => {
  expect(stampTimeMs(makeStamp(parts))).toBe(Date.UTC(2026, 10, 20, 10, 0, 0, 123));
});
