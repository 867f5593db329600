import { expect, it } from 'vitest';
import { ReportedError, UnexpectedBodyError } from '../../shared/platform/errors.ts';
import { collect, fakeTime, rejection, rig } from './support/platform-client.ts';
import type { Answer } from './support/scripted-platform.ts';

const DAY_MS = 24 * 3_600_000;
const event = (id: string) => ({ id, event_type: 'EXTERNAL_GROUP_MEMBER_REMOVE' });
const page = (ids: readonly string[], next: unknown): Answer => ({
  body: { data: { events: ids.map(event), ...(next === undefined ? {} : { next }) }, error: null },
});
const inTurn =
  (...answers: readonly Answer[]) =>
  (_: unknown, index: number) =>
    answers[index] ?? { status: 410 };

it('follow sends the start date and the page size first, and then only the cursor', async () => {
  const { client, platform, time } = await rig(inTurn(page(['a'], 'c1'), page(['b'], 'c2'), page([], null)));
  const sinceMs = time.nowMs - 89 * DAY_MS;
  const pages = await collect(client.activity.follow({ sinceMs, untilMs: time.nowMs }));
  expect(platform.seen.map(({ query }) => query)).toEqual([
    { startDate: '2026-08-23T10:00:00.000Z', endDate: '2026-11-20T10:00:00.000Z', limit: '1000' },
    { next: 'c1' },
    { next: 'c2' },
  ]);
  expect(pages.map(({ events, next, done }) => [events.map(({ id }) => id), next, done])).toEqual([
    [['a'], 'c1', false],
    [['b'], 'c2', false],
    [[], 'c2', true],
  ]);
});

it('follow uses the parameter names and the page size from the settings', async () => {
  const activity = { startParam: 'from', endParam: 'to', sizeParam: 'page_size', pageSize: 50 };
  const { client, platform, time } = await rig(inTurn(page([], null)), { activity });
  await collect(client.activity.follow({ sinceMs: time.nowMs, untilMs: time.nowMs }));
  expect(Object.keys(platform.seen[0]?.query ?? {})).toEqual(['from', 'to', 'page_size']);
  expect(platform.seen[0]?.query['page_size']).toBe('50');
});

it.each<[string, unknown]>([
  ['null', null],
  ['absent', undefined],
  ['empty', ''],
  ['the cursor of the request', 'c1'],
])('follow returns the events and the last usable cursor, and ends, if next is %s', async (_, next) => {
  const { client, platform } = await rig(inTurn(page(['z'], next)));
  const pages = await collect(client.activity.follow({ cursor: 'c1' }));
  expect(pages).toEqual([{ events: [event('z')], next: 'c1', done: true }]);
  expect(platform.seen).toHaveLength(1);
});

it.each<[string, unknown, string | null]>([
  ['{data: null}', { data: null, error: null }, 'c1'],
  ['{data: {events: null}}', { data: { events: null, next: 'c2' }, error: null }, 'c2'],
  ['{data: {events: null}} without next', { data: { events: null }, error: null }, 'c1'],
  ['{events: null}', { events: null, next: 'c2' }, 'c2'],
])('follow reads the body %s as an empty page, and returns the last cursor', async (_, body, cursor) => {
  const { client } = await rig(inTurn({ body }, page([], null)));
  const pages = await collect(client.activity.follow({ cursor: 'c1' }));
  expect(pages.flatMap(({ events }) => events)).toEqual([]);
  expect(pages.at(-1)).toMatchObject({ next: cursor, done: true });
});

it('follow reads every page of a feed with the flat envelope {events, next}', async () => {
  const flat = (ids: readonly string[], next: unknown) => ({ body: { events: ids.map(event), next } });
  const odd = { body: { events: [{ ...event('c'), name: 7 }], next: null } };
  const { client } = await rig(inTurn(flat(['a'], 'c1'), flat(['b'], 'c2'), odd));
  const pages = await collect(client.activity.follow());
  expect(pages.map(({ events, next }) => [events.map(({ id }) => id), next])).toEqual([
    [['a'], 'c1'],
    [['b'], 'c2'],
    [['c'], 'c2'],
  ]);
});

it('follow continues after an empty page with a new cursor, and ends after 20 empty pages in a row', async () => {
  const middle = await rig(inTurn(page([], 'c1'), page(['a'], 'c2'), page([], 'c2')));
  const pages = await collect(middle.client.activity.follow());
  expect(pages.flatMap(({ events }) => events.map(({ id }) => id))).toEqual(['a']);
  const endless = await rig((_, index) => page([], `c${index}`));
  const last = (await collect(endless.client.activity.follow())).at(-1);
  expect(last).toEqual({ events: [], next: 'c19', done: true });
});

it('follow fails if a page repeats the cursor of an earlier page', async () => {
  const { client } = await rig((_, index) => page(['a'], index % 2 === 0 ? 'c1' : 'c2'));
  await expect(collect(client.activity.follow())).rejects.toMatchObject({ field: 'data.next' });
});

it('follow redacts tokens in an error that the envelope contains', async () => {
  const error = { code: 'bad_cursor', token: 'abc' };
  const { client } = await rig(inTurn({ body: { data: null, error } }));
  const thrown = await rejection(collect(client.activity.follow()));
  expect(thrown).toBeInstanceOf(ReportedError);
  expect(thrown).toMatchObject({ status: 200, excerpt: '{"code":"bad_cursor","token":[redacted]}' });
});

it.each<[string, unknown, string]>([
  ['{results}', { results: [], next: 'c' }, 'an object with keys results, next'],
  ['{data: {results}}', { data: { results: [] } }, 'an object with keys results'],
  ['a list', [{ id: 'a' }], 'got an array of 1'],
  ['null', null, 'got null'],
  ['events that are not a list', { events: {}, next: 'c' }, 'field data.events'],
  ['no events', { data: { next: 'c1' }, error: null }, 'field data.events'],
  ['a cursor that is not text', { data: { events: [], next: { id: 1 } }, error: null }, 'field data.next'],
  ['ten without id', { data: { events: Array(10).fill({ name: 'x' }) }, error: null }, 'events with ids'],
])('follow fails if the envelope is %s, with an error that describes it', async (_, body, message) => {
  const { client } = await rig(inTurn({ body }));
  const error = await rejection(collect(client.activity.follow()));
  expect(error).toBeInstanceOf(UnexpectedBodyError);
  expect((error as Error).message).toContain(message);
});

it('follow returns an event with an unknown type and unexpected details', async () => {
  const odd = {
    id: 'e1',
    event_type: 'NEW',
    owner: 7,
    subjects: [{ instance: 'g1', type: 'PLANET', icon: 5 }],
  };
  const { client } = await rig(inTurn({ body: { data: { events: [odd], next: null }, error: null } }));
  const [first] = await collect(client.activity.follow());
  expect(first?.events).toEqual([
    { id: 'e1', event_type: 'NEW', subjects: [{ instance: 'g1', type: 'PLANET' }] },
  ]);
});

it('follow drops and reports events without an id, values that are not events, and invalid subjects', async () => {
  const group = { instance: 'g1', type: 'GROUP' };
  const events = [null, { id: 'e1', subjects: [null, 'g0', group] }, { id: null }, {}, 'removed', { id: 7 }];
  const ignored: (readonly string[])[] = [];
  const { client } = await rig(inTurn({ body: { data: { events, next: null }, error: null } }), {
    onAttempt: ({ ignoredFields = [] }) => ignored.push(ignoredFields),
  });
  const [first] = await collect(client.activity.follow());
  expect(first?.events).toEqual([{ id: 'e1', subjects: [{}, {}, group] }]);
  expect(ignored.flat()).toEqual(expect.arrayContaining(['data.events[2].id', 'data.events[5].id']));
});

it('follow refuses an empty cursor, and a start 90 days ago or earlier, without a request', async () => {
  const { client, platform } = await rig(inTurn(page([], null)));
  const sinceMs = fakeTime().nowMs - 90 * DAY_MS;
  await expect(collect(client.activity.follow({ sinceMs }))).rejects.toThrow('less than 90 days ago');
  await expect(collect(client.activity.follow({ cursor: '' }))).rejects.toThrow('argument');
  expect(platform.seen).toEqual([]);
  await collect(client.activity.follow({ sinceMs: sinceMs + 1 }));
  expect(platform.seen).toHaveLength(1);
});
