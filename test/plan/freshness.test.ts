import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import type { SourceState } from '../../shared/domain/source.ts';
import { freshnessOf } from '../../shared/plan/freshness.ts';

const MINUTE = 60_000;
const NOW_MS = Date.UTC(2026, 10, 20, 10);
const GOOGLE = { kind: 'google', administrator: 'admin@acme.test' };

const settingsOf = (settings: object) => parseSettings({ baseUrl: 'https://platform.test', ...settings });
const expecting = (expectEvery: object) => settingsOf({ sources: { expectEvery } });
const ago = (minutes: number): number => NOW_MS - minutes * MINUTE;

/** Returns rows: source, minutes since the last receipt, expected minutes, late minutes. */
const rowsOf = (settings: ReturnType<typeof settingsOf>, states: readonly SourceState[]) =>
  freshnessOf(settings, states, NOW_MS).map(({ source, receivedMs, everyMs, lateMs }) => [
    source,
    receivedMs === undefined ? 'never' : (NOW_MS - receivedMs) / MINUTE,
    everyMs === undefined ? 'not expected' : everyMs / MINUTE,
    lateMs / MINUTE,
  ]);

it('the result has no source without a receipt and without an expected interval', () => {
  expect(rowsOf(settingsOf({}), [])).toEqual([]);
});

it('a source without an expected interval is never late', () => {
  const states = [{ source: 'events', receivedMs: ago(90_000) }] as const;
  expect(rowsOf(settingsOf({}), states)).toEqual([['events', 90_000, 'not expected', 0]]);
});

it('a source is late ten minutes after the expected interval, counted from its first check if it never sent an event', () => {
  const late = (minutes: number) =>
    rowsOf(expecting({ scim: 40 }), [{ source: 'scim', receivedMs: ago(minutes) }])[0]?.[3];
  expect([late(40), late(50), late(51)]).toEqual([0, 0, 1]);
  const states = [{ source: 'events', awaitedMs: ago(75) }] as const;
  expect(rowsOf(expecting({ events: 60 }), states)).toEqual([['events', 'never', 60, 5]]);
  expect(rowsOf(expecting({ events: 60 }), [])).toEqual([['events', 'never', 60, 0]]);
});

it('the expected interval of the reader is the setting, or else its schedule', () => {
  const states = [{ source: 'directory', receivedMs: ago(26), everyMinutes: 15 }] as const;
  expect(rowsOf(settingsOf({ directory: GOOGLE }), states)).toEqual([['directory', 26, 15, 1]]);
  expect(rowsOf(settingsOf({ directory: GOOGLE }), [])).toEqual([['directory', 'never', 5, 0]]);
  const rarely = settingsOf({ directory: GOOGLE, sources: { expectEvery: { directory: 60 } } });
  expect(rowsOf(rarely, states)).toEqual([['directory', 26, 60, 0]]);
});

it('the result has no directory that is no longer read', () => {
  expect(rowsOf(settingsOf({}), [{ source: 'directory', receivedMs: ago(1_000) }])).toEqual([]);
});
