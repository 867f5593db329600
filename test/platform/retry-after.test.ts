import { describe, expect, it } from 'vitest';
import { retryAfterOf } from '../../shared/platform/retry.ts';

const NOW = Date.UTC(2026, 10, 20, 10, 0, 0);

describe('retryAfterOf', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['zero seconds, as one', '0', 1000],
    ['a fraction of a second', '1.5', 1500],
    ['spaces around', ' 7 ', 7000],
    ['an IMF-fixdate', 'Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
    ['an RFC 850 date', 'Friday, 20-Nov-26 10:00:30 GMT', 30_000],
    ['an asctime date, in GMT whatever the machine', 'Fri Nov 20 10:00:30 2026', 30_000],
    ['a date that has passed, as a second', 'Fri, 20 Nov 2026 09:00:00 GMT', 1000],
    ['an epoch, as a quarter of an hour', '1795212000', 900_000],
    ['a date years ahead, likewise', 'Fri, 20 Nov 2083 10:00:00 GMT', 900_000],
    ['more seconds than a number holds exactly, likewise', '9'.repeat(30), 900_000],
  ])('reads %s', (_, header, expected) => {
    expect(retryAfterOf(header, NOW)).toBe(expected);
  });

  it.each([undefined, '', 'soon', '-5', '5 apples', 'Fri, 99 Foo 2026 10:00:30 GMT', '2026-11-20T10:00:30Z'])(
    'takes %j as absent',
    (header) => {
      expect(retryAfterOf(header, NOW)).toBeUndefined();
    },
  );
});
