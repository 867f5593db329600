import { expect, it } from 'vitest';
import type { Subject } from '../../shared/domain/notice.ts';
import { findProblems } from '../../shared/sync/reconcile/levels.ts';
import { createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';
import { HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';

type Engine = Awaited<ReturnType<typeof createTestEngine>>;
type Platform = Engine['world']['platform'];

type Begin = (platform: Platform, idOf: (group: string) => string | undefined) => unknown;
const failing =
  (status: number): Begin =>
  (platform) =>
    Object.assign(platform, { failing: () => status });
const refusing =
  (status: number): Begin =>
  (platform) =>
    Object.assign(platform, { refusal: () => status });
const refusesOnce: Begin = (platform) => {
  platform.refusal = () => {
    platform.refusal = () => undefined;
    return 412;
  };
};
const forbids: Begin = (platform, idOf) =>
  Object.assign(platform, { forbidden: (id: string) => id === idOf('g') });
const hides: Begin = (platform, idOf) =>
  Object.assign(platform, { hidden: (id: string) => id === idOf('g'), hidesFromList: false });

const ADDS: DirectoryEvent = { add: ['c'], to: 'g' };
const REMOVES: DirectoryEvent = { take: ['a'], from: 'g' };
const CREATES: DirectoryEvent = { snapshot: 'new', of: ['a'] };

/**
 * Faults of the fault model, with their hours, the subjects of all messages to people, and the change that meets the
 * fault. A fault that heals itself causes no message, and a fault that needs a person has one message.
 */
const FAULTS: [string, Begin, number, readonly Subject[], DirectoryEvent?][] = [
  ['every call is answered with 503 for ten minutes', failing(503), 1 / 6, []],
  ['every call is answered with 503 for two hours', failing(503), 2, ['gate']],
  ['calls are throttled for ten minutes', failing(429), 1 / 6, []],
  ['the credential is revoked', failing(401), 1, ['gate']],
  ['writes are answered with 503 for two hours', refusing(503), 2, ['waiting']],
  ['a version is refused once', refusesOnce, 2, []],
  ['one group is forbidden', forbids, 3, ['waiting']],
  ['a group answers 404 and is in the list', hides, 3, ['waiting']],
  ['an added user is dropped', ({ refused }) => refused.add('u-c'), 3, []],
  ['a removed user stays', ({ kept }) => kept.add('u-a'), 3, ['access'], REMOVES],
  [
    'a removal is refused because of another user',
    ({ unacceptable }) => unacceptable.add('u-b'),
    3,
    ['access'],
    REMOVES,
  ],
  ['a new group is refused', refusing(422), 3, ['dead_letters'], CREATES],
];

it.each(FAULTS)('if %s, people get exactly these messages and ends', async (...fault) => {
  const [, begin, hours, told, change = ADDS] = fault;
  const { world, hire, deliver, emit, pass } = await createTestEngine();
  const { platform } = world;
  const spared = { failing: platform.failing, refusal: platform.refusal };
  await hire('a', 'b', 'c');
  await deliver({ snapshot: 'g', of: ['a', 'b'] }, { snapshot: 'h', of: ['b', 'c'] });
  const subjects = async () => {
    const found = await findProblems(await world.connection(), world.toolPorts);
    return found.filter(({ count }) => count > 0).map(({ subject }) => subject);
  };
  const ever = new Set<Subject>();
  const watch = async (lengthMs: number) => {
    for (let passedMs = 0; passedMs < lengthMs; passedMs += 5 * MINUTE_MS) {
      await pass(5 * MINUTE_MS);
      for (const subject of await subjects()) ever.add(subject);
      if (world.deadLetters.length > 0) ever.add('dead_letters');
    }
  };
  begin(platform, (name) => [...platform.groups.values()].find(({ spokeId }) => spokeId === name)?.id);
  emit(change);
  await watch(hours * HOUR_MS);
  Object.assign(platform, spared, { forbidden: () => false, hidden: () => false, hidesFromList: true });
  for (const list of [platform.refused, platform.kept, platform.unacceptable]) list.clear();
  await watch(3 * HOUR_MS);
  expect([[...ever], await subjects()]).toEqual([told, []]);
});
