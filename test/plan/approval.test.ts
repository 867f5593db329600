import { expect, it } from 'vitest';
import { MAX_AHEAD_MS } from '../../shared/domain/stamp.ts';
import { authorsOf, type HeldCause } from '../../shared/plan/approval.ts';

const EVENT_MS = Date.UTC(2026, 10, 20);
const MONTH_MS = 30 * 86_400_000;
const none: HeldCause = { kind: 'no_event' };
const event: HeldCause = { kind: 'event', atMs: EVENT_MS, source: 'events' };
const read: HeldCause = { kind: 'event', atMs: EVENT_MS, source: 'directory' };

it.each<[action: string, key: string, cause: HeldCause, afterMs: number, isAuthor: boolean]>([
  ['restated', '', none, -MONTH_MS, true],
  ['restated', '', event, 1 - MAX_AHEAD_MS, true],
  ['restated', '', event, -MAX_AHEAD_MS, false],
  ['import', '', none, -MONTH_MS, true],
  ['import', '', event, 1, false],
  ['directory_takeover', '', event, -MONTH_MS, false],
  ['directory_takeover', '', read, -MONTH_MS, true],
  ['connections_set', 'nested', read, -MONTH_MS, true],
  ['connections_set', 'mode', event, 1, true],
  ['connections_set', 'guard', none, 1, false],
  ['holds_approve', '', none, 1, false],
  ['read_members', '', none, 1, false],
  ['an action of another release', '', event, 1, true],
])(
  '%s %s counts as a possible cause: %o, %i ms after its event: %s',
  (action, key, cause, afterMs, isAuthor) => {
    const actions = [{ action, by: 'ann', atMs: EVENT_MS + afterMs, keys: [key] }];
    expect([...authorsOf([cause], actions)]).toEqual(isAuthor ? ['ann'] : []);
  },
);
