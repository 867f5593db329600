import { seededRandom } from '../../../simulate/random.ts';
import type { RawEvent } from '../reading.ts';
import { Chaos } from './chaos.ts';
import { messagesOf, PEOPLE } from './directory.ts';
import { drive } from './drive.ts';
import { suspectChanged } from './look-over.ts';
import { Scheduler } from './scheduler.ts';
import { createWorld, type World } from './world.ts';

interface RunOptions {
  readonly events: readonly RawEvent[];
  readonly seed: number;
  readonly crashAt?: number;
  readonly chaos?: Omit<ConstructorParameters<typeof Chaos>[0], 'random'>;
  readonly coalesceMs?: number;
  readonly twins?: number;
  readonly skewMs?: number;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly platform?: Parameters<typeof createWorld>[0]['platform'];
  /** Called after each effect. */
  readonly onEffect?: (world: World) => void;
}

/** Runs the engine once. Its queue receives each event twice, in any order. The seed decides everything else. */
export async function runEvents({
  events,
  seed,
  crashAt,
  chaos,
  coalesceMs = 0,
  twins = 0,
  skewMs = 900,
  settings = {},
  platform,
  onEffect = () => {},
}: RunOptions) {
  const random = seededRandom(seed);
  const faults = new Chaos({ budget: 0, ...chaos, random });
  const world = await createWorld({
    random,
    faults,
    coalesceMs,
    people: PEOPLE,
    settings,
    ...(platform === undefined ? {} : { platform }),
  });
  const scheduler = new Scheduler({
    random,
    ...(crashAt === undefined ? {} : { crashAt }),
    onEffect: () => {
      world.advance(1);
      faults.meddle(world);
      onEffect(world);
    },
  });
  const messages = [...messagesOf(events)];
  for (let i = random.below(3); i > 0; i -= 1) messages.push(random.pick(messages));
  // Some events arrive at the start. The others arrive when the engine has no work left, so they are often late.
  const arrive = () => {
    const count = 1 + random.below(messages.length);
    for (let i = 0; i < count; i += 1) {
      for (const { body } of messages.splice(random.below(messages.length), 1))
        world.eventsQueue.send({ body });
    }
  };
  arrive();
  await drive({
    world,
    scheduler,
    twins,
    batchSize: 4,
    skewMs,
    whenQuiet: async () => {
      if (messages.length > 0) {
        arrive();
        return true;
      }
      if (world.platform.lateCount > 0) {
        world.platform.doLate(0);
        return true;
      }
      faults.left = 0;
      return suspectChanged(world);
    },
  });
  return { world, scheduler };
}
