import { expect, it } from 'vitest';
import { connectionName } from '../../shared/domain/ids.ts';
import type { Episode, Finding, Subject } from '../../shared/domain/notice.ts';
import { afterNotice, beforeNotice, isNoticeDue, noticeOf, observe } from '../../shared/plan/notice.ts';

const MINUTE = 60_000;
const START_MS = Date.UTC(2026, 10, 20, 10);

/** Returns the notices about holds, for numbers of held groups by minute. Notices in minutes of `failing` fail. */
function notices(counts: Readonly<Record<number, number>>, minutes: number, failing: readonly number[] = []) {
  let episodes: readonly Episode[] = [];
  let count = 0;
  const sent: string[] = [];
  for (let minute = 0; minute <= minutes; minute += 1) {
    const nowMs = START_MS + minute * MINUTE;
    count = counts[minute] ?? count;
    const found: readonly Finding[] = [{ subject: 'hold', count }];
    episodes = observe(episodes, found, { checked: ['hold'], nowMs }).map((episode) => {
      if (!isNoticeDue(episode, nowMs)) return episode;
      const openKind = episode.notifiedCount === undefined ? 'began' : 'grew';
      const kind = episode.endedMs === undefined ? openKind : 'ended';
      sent.push(`${minute} ${kind} ${episode.count}${failing.includes(minute) ? ' in vain' : ''}`);
      return afterNotice(beforeNotice(episode, nowMs), { isSent: !failing.includes(minute) });
    });
  }
  return { sent, episodes };
}

it.each<[string, Readonly<Record<number, number>>, number, string, (readonly number[])?]>([
  ['no notice is sent without a finding', {}, 60, ''],
  ['a long episode has one notice', { 2: 3 }, 600, '2 began 3'],
  ['the end is reported after a quarter of an hour', { 0: 1, 4: 0 }, 60, '0 began 1, 15 ended 1'],
  ['the end of a long episode is reported immediately', { 0: 1, 40: 0 }, 90, '0 began 1, 40 ended 1'],
  ['growth is reported, and shrinking is not', { 0: 1, 5: 4, 30: 2, 50: 3 }, 90, '0 began 1, 15 grew 4'],
  ['a short gap is not reported', { 0: 1, 5: 0, 9: 1 }, 60, '0 began 1'],
  ['a new beginning is reported later', { 0: 1, 20: 0, 21: 2 }, 60, '0 began 1, 20 ended 1, 35 began 2'],
  ['an episode without a notice ends silently', { 0: 1, 20: 0, 21: 2, 30: 0 }, 60, '0 began 1, 20 ended 1'],
  ['a failed notice is repeated after 15 minutes', { 0: 1 }, 60, '0 began 1 in vain, 15 began 1', [0]],
  ['the end is not reported if the beginning was not', { 0: 1, 5: 0 }, 60, '0 began 1 in vain', [0]],
  ['a failed end is sent again', { 0: 1, 20: 0 }, 60, '0 began 1, 20 ended 1 in vain, 35 ended 1', [20]],
  [
    'a flapping finding causes at most four notices an hour',
    Object.fromEntries(Array.from({ length: 60 }, (_, at) => [at, at % 2])),
    59,
    '1 began 1, 16 ended 1, 31 began 1, 46 ended 1',
  ],
])('%s', (_, counts, minutes, expected, failing = []) => {
  expect(notices(counts, minutes, failing).sent.join(', ')).toBe(expected);
});

it('no episode is stored after all episodes have ended and all ends were reported', () => {
  expect(notices({ 0: 1, 20: 0 }, 60).episodes).toEqual([]);
});

it('the episode of a subject that was not checked stays unchanged', () => {
  const known: readonly Episode[] = [
    { subject: 'token', count: 1, sinceMs: 1, notifiedCount: 1, triedMs: 1 },
  ];
  expect(observe(known, [], { checked: ['hold', 'gate'], nowMs: START_MS })).toEqual(known);
});

it.each([
  [0, 0],
  [2, 1],
])('an episode since 1 with a finding since %i began at %i', (sinceMs, beganMs) => {
  const known = [{ subject: 'token', count: 1, sinceMs: 1, notifiedCount: 1 }] as const;
  const found = [{ subject: 'token', count: 1, sinceMs }] as const;
  const [episode] = observe(known, found, { checked: ['token'], nowMs: START_MS });
  expect(episode?.sinceMs).toBe(beganMs);
});

it('a notice links to each group that it names, and to the list only if there are more groups', () => {
  const stage = { prefix: 'prod', consoleUrl: 'https://groups.acme.example' };
  const linesOf = (subject: Subject, count: number, groups: readonly string[]) =>
    noticeOf(
      { subject, count, sinceMs: START_MS, groups, names: groups.map((id) => `Group ${id}`) },
      stage,
      connectionName('acme'),
    ).slice(1);
  const pages = `${stage.consoleUrl}/c/acme`;
  const [since, command] = [
    'Since 2026-11-20 10:00 UTC.',
    'npx groupsync --prefix prod --connection acme holds',
  ];
  expect(linesOf('hold', 1, ['g/1'])).toEqual(['"Group g/1"', since, command, `${pages}/holds/g%2F1`]);
  expect(linesOf('hold', 2, ['g1', 'g2'])).toEqual([
    since,
    command,
    `"Group g1": ${pages}/holds/g1`,
    `"Group g2": ${pages}/holds/g2`,
  ]);
  expect(linesOf('hold', 7, ['g1', 'g2']).slice(-3)).toEqual([
    `"Group g1": ${pages}/holds/g1`,
    `"Group g2": ${pages}/holds/g2`,
    `${pages}/holds`,
  ]);
  expect(linesOf('name_clash', 1, ['g1']).at(-1)).toBe(`${pages}/groups/g1`);
  expect(linesOf('name_clash', 2, ['g1']).at(-1)).toBe(`${pages}/groups?state=name_clash`);
});

it('a notice contains the finding, the count, the start time, the command and a link to the console', () => {
  const names = ['Engineering', 'evil\u202e\nname', 'c', 'd', 'e'];
  const episode = { subject: 'hold', count: 7, sinceMs: START_MS, names } as const;
  const acme = connectionName('acme');
  expect(noticeOf(episode, { prefix: 'prod' }, acme)).toEqual([
    'prod acme: groups held until an operator decides: 7',
    '"Engineering", "evil??name", "c", "d", "e", and 2 more',
    'Since 2026-11-20 10:00 UTC.',
    'npx groupsync --prefix prod --connection acme holds',
  ]);
  expect(noticeOf({ ...episode, endedMs: START_MS + 5 * MINUTE }, { prefix: 'prod' }, acme)).toEqual([
    'prod acme: over: groups held until an operator decides',
    'From 2026-11-20 10:00 UTC to 2026-11-20 10:05 UTC.',
  ]);
  const consoleUrl = 'https://groups.acme.example';
  const lastOf = (subject: Subject, connection?: typeof acme) =>
    noticeOf({ subject, count: 1, sinceMs: START_MS }, { prefix: 'prod', consoleUrl }, connection).at(-1);
  expect(lastOf('gate', acme)).toBe(`${consoleUrl}/c/acme/connection`);
  expect(lastOf('drift', acme)).toBe(`${consoleUrl}/c/acme/activity?text=outcome%3Areport`);
  expect(lastOf('dead_letters')).toBe(`${consoleUrl}/`);
  expect(
    noticeOf(
      { subject: 'dead_letters', count: 1, sinceMs: START_MS },
      { prefix: 'prod', consoleUrl, pagesOf: acme },
    ).slice(-2),
  ).toEqual(['npx groupsync --prefix prod dlq list', `${consoleUrl}/c/acme/dead-letters`]);
  const contact = 'Contact the person who installed the app: the platform user is u-1';
  const refused = { subject: 'gate', count: 1, sinceMs: START_MS, contact } as const;
  expect(noticeOf(refused, { prefix: 'prod' }, acme).slice(2, 3)).toEqual([`${contact}.`]);
  const deadLetters = {
    subject: 'dead_letters',
    count: 6,
    sinceMs: START_MS,
    names: Array(6).fill('x'.repeat(81)),
  } as const;
  const names5 = Array(5)
    .fill(`"${'x'.repeat(80)}"`)
    .join(', ');
  expect(noticeOf(deadLetters, { prefix: 'prod' }).slice(1)).toEqual([
    `${names5}, and 1 more`,
    'Since 2026-11-20 10:00 UTC.',
    'npx groupsync --prefix prod dlq list',
  ]);
  expect(noticeOf({ ...deadLetters, count: 5 }, { prefix: 'prod' }).slice(0, 2)).toEqual([
    'prod: dead-lettered messages that wait for an operator: 5',
    names5,
  ]);
  expect(noticeOf({ ...deadLetters, names: [] }, { prefix: 'prod' })).toHaveLength(3);
});
