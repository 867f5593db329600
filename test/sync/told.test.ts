import { expect, it } from 'vitest';
import type { Subject } from '../../shared/domain/notice.ts';
import { findProblems } from '../../shared/sync/reconcile/levels.ts';
import { createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';
import { HOUR_MS, MINUTE_MS } from '../support/engine/world.ts';

type Engine = Awaited<ReturnType<typeof createTestEngine>>;
type Platform = Engine['world']['platform'];

interface Fault {
  readonly begin: (platform: Platform, idOf: (group: string) => string | undefined) => void;
  readonly forMs: number;
  /** The change in the directory that meets the fault. */
  readonly change?: DirectoryEvent;
  /** The subjects of all messages to people, in any order. */
  readonly told: readonly Subject[];
}

const ADDS: DirectoryEvent = { add: ['c'], to: 'g' };
const REMOVES: DirectoryEvent = { take: ['a'], from: 'g' };
const always = (status: number) => () => status;

/** Faults of the fault model: each that heals itself causes no message, and each that needs a person has one message. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'every call is answered with 503 for ten minutes': {
    begin: (platform) => (platform.failing = always(503)),
    forMs: 10 * MINUTE_MS,
    told: [],
  },
  'every call is answered with 503 for two hours': {
    begin: (platform) => (platform.failing = always(503)),
    forMs: 2 * HOUR_MS,
    told: ['gate'],
  },
  'calls are throttled for ten minutes': {
    begin: (platform) => (platform.failing = always(429)),
    forMs: 10 * MINUTE_MS,
    told: [],
  },
  'the credential is revoked': {
    begin: (platform) => (platform.failing = always(401)),
    forMs: HOUR_MS,
    told: ['gate'],
  },
  'writes are answered with 503 for two hours': {
    begin: (platform) => (platform.refusal = always(503)),
    forMs: 2 * HOUR_MS,
    told: ['waiting'],
  },
  'a version is refused once': {
    begin: (platform) => {
      platform.refusal = () => {
        platform.refusal = () => undefined;
        return 412;
      };
    },
    forMs: 2 * HOUR_MS,
    told: [],
  },
  'one group is forbidden': {
    begin: (platform, idOf) => (platform.forbidden = (id) => id === idOf('g')),
    forMs: 3 * HOUR_MS,
    told: ['waiting'],
  },
  'a group answers 404 and is in the list': {
    begin(platform, idOf) {
      platform.hidden = (id) => id === idOf('g');
      platform.hidesFromList = false;
    },
    forMs: 3 * HOUR_MS,
    told: ['waiting'],
  },
  'an added user is dropped': {
    begin: ({ refused }) => refused.add('u-c'),
    forMs: 3 * HOUR_MS,
    told: [],
  },
  'a removed user stays': {
    begin: ({ kept }) => kept.add('u-a'),
    forMs: 3 * HOUR_MS,
    change: REMOVES,
    told: ['access'],
  },
  'a removal is refused because of another user': {
    begin: ({ unacceptable }) => unacceptable.add('u-b'),
    forMs: 3 * HOUR_MS,
    change: REMOVES,
    told: ['access'],
  },
  'a new group is refused': {
    begin: (platform) => (platform.refusal = always(422)),
    forMs: 3 * HOUR_MS,
    change: { snapshot: 'new', of: ['a'] },
    told: ['dead_letters'],
  },
};

it.each(Object.entries(FAULTS))('if %s, people get exactly these messages and ends', async (_, fault) => {
  const { begin, forMs, change = ADDS, told } = fault;
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
  await watch(forMs);
  Object.assign(platform, spared, { forbidden: () => false, hidden: () => false, hidesFromList: true });
  for (const list of [platform.refused, platform.kept, platform.unacceptable]) list.clear();
  await watch(3 * HOUR_MS);
  expect([[...ever], await subjects()]).toEqual([told, []]);
});
