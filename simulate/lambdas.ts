import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Dispatcher } from 'undici';
import type { Directories } from '../shared/directory/ports.ts';
import type { DirectoryWorld } from '../shared/directory/vendors/exchange.ts';
import { type AwsFault, type EnginePorts, type PortsOptions, portsOver, tableOf } from './engine.ts';
import type { FakeSecretsManager } from './fake-secrets-manager.ts';
import { type Queues, queueUrl } from './queues.ts';
import { hashOf, type Random } from './random.ts';
import type { RunLog } from './run-log.ts';
import type { AwsAction, LambdaName } from './simulation-run.ts';
import type { MemoryTable } from './table.ts';
import type { Time } from './time.ts';
import { Crash, type Worker } from './worker.ts';

/** The actor of an invocation: a function, an operator or the checker. */
export type Actor = LambdaName | 'checker';

/** A seeded bug. It replaces methods of the ports of a worker. */
export type WrapPorts = (ports: EnginePorts, lambda: Actor) => EnginePorts;

interface LambdasOptions extends Pick<PortsOptions, 'coalesceMs' | 'createSettleMs'> {
  readonly time: Time;
  readonly random: Random;
  readonly runLog: RunLog;
  readonly table: MemoryTable;
  readonly queues: Queues;
  readonly dispatcherOf: (worker: Worker) => Dispatcher;
  readonly directoriesOf: (
    worker: Worker,
    own: Pick<DirectoryWorld, 'clock' | 'random' | 'sleep'>,
  ) => Directories;
  readonly secretsManager: FakeSecretsManager;
  readonly wrapPorts?: WrapPorts | undefined;
}

export interface Container {
  readonly ports: EnginePorts;
  readonly sqs: SQSClient;
  readonly secretsManager: ReturnType<FakeSecretsManager['accessOf']>;
  readonly worker: Worker;
}

type Spell = Exclude<AwsAction, { kind: 'crash' }> & { readonly untilMs: number };
type Seat = Container & { kill(): void; freeze(): void; thaw(): void };

/** The interval at which the error of a wrong clock changes. */
const CLOCK_SET_MS = 7_000;

export function createLambdas(options: LambdasOptions) {
  const { time, random, runLog } = options;
  const idle = new Map<Actor, Seat[]>();
  // In runs without a coalescing window, calls to the platform are slower. So more events arrive during a write.
  const slowestMs = options.coalesceMs === 0 ? 2_500 : 100;
  let spells: Spell[] = [];
  let crashes: { readonly action: Extract<AwsAction, { kind: 'crash' }>; left: number }[] = [];
  let effects = 0;
  let diedMs = 0;
  let ids = 0;
  let workers = 0;

  const spellOf = <Kind extends Spell['kind']>(kind: Kind) => {
    const now = time.nowMs();
    return spells.find(
      (one): one is Extract<Spell, { kind: Kind }> => one.kind === kind && one.untilMs > now,
    );
  };
  const strikes = (kind: 'throttled' | 'unheard' | 'echo' | 'queue_refuses' | 'twins'): boolean => {
    const spell = spellOf(kind);
    if (spell === undefined || !random.chance(spell.share)) return false;
    runLog.fired(`aws:${kind}`);
    return true;
  };
  const awsFault = (isRead: boolean): AwsFault => {
    if (spells.length === 0) return 'none';
    if (strikes('throttled')) return 'throttled';
    for (const kind of isRead ? [] : (['unheard', 'echo'] as const)) if (strikes(kind)) return kind;
    return 'none';
  };
  const latencyOf = (kind: string): number => {
    if (/^(?:platform|directory)\./.test(kind)) return 15 + random.below(slowestMs);
    const slow = spells.length > 0 ? spellOf('slow_table') : undefined;
    if (slow === undefined) return 1 + random.below(5);
    runLog.fired('aws:slow_table');
    return slow.msPerRequest;
  };
  /** Returns whether the function must crash now, before this effect. */
  const isCrashDue = (actor: Actor, kind: string): boolean => {
    const crash = crashes.find(({ action }) => action.lambda === actor && action.effect === kind);
    if (crash === undefined) return false;
    crash.left -= 1;
    if (crash.left > 0) return false;
    crashes = crashes.filter((one) => one !== crash);
    diedMs = time.nowMs();
    runLog.fired(`crash:${actor}:${kind}`);
    runLog.fired('aws:crash');
    runLog.log({ lane: 'aws', what: `${actor} crashes before "${kind}"` });
    return true;
  };

  const open = (actor: Actor): Seat => {
    workers += 1;
    let dead = false;
    /** Unfinished work. AWS freezes a container between two invocations, and continues in the next one. */
    let frozen: (() => void)[] | undefined;
    const thawed = async (): Promise<void> => {
      if (frozen === undefined) return;
      runLog.fired('aws:frozen');
      await new Promise<void>((resolve) => frozen?.push(resolve));
    };
    const name = `${actor}-${workers}`;
    const { skewMs = 0 } = spellOf('skew') ?? {};
    if (skewMs !== 0) runLog.fired('aws:skew');
    const isOffBy = () =>
      skewMs && (hashOf(`${name} ${Math.floor(time.nowMs() / CLOCK_SET_MS)}`) % (2 * skewMs + 1)) - skewMs;
    const worker: Worker = {
      name,
      skewMs,
      isDead: () => dead,
      async effect(kind) {
        if (dead) throw new Crash(kind);
        effects += 1;
        await time.sleep(latencyOf(kind));
        await thawed();
        if (!dead && crashes.length > 0) dead = isCrashDue(actor, kind);
        if (dead) throw new Crash(kind);
      },
    };
    const sqs = options.queues.client(async (operation, queue) => {
      await worker.effect(`${operation} ${queue}`);
      if (!strikes('queue_refuses')) return undefined;
      const isBatch = operation.endsWith('Batch');
      const fault = random.pick(['refused', 'unheard', ...(isBatch ? (['partly'] as const) : [])] as const);
      runLog.fired(`${operation} ${fault}`);
      if (fault !== 'refused') return fault;
      throw new Error('the queue is throttled');
    });
    const secretsManager = options.secretsManager.accessOf(worker, awsFault);
    const own = {
      clock: () => time.nowMs() + isOffBy(),
      random: () => random.next(),
      sleep: async (ms: number) => {
        await time.sleep(ms);
        await thawed();
        if (dead) throw new Crash('sleep');
      },
    };
    const ports = portsOver({
      ...own,
      table: tableOf(options.table, worker, awsFault),
      sqs,
      queueUrl,
      dispatcher: options.dispatcherOf(worker),
      secrets: secretsManager,
      directories: options.directoriesOf(worker, own),
      newId: () => {
        ids += 1;
        return `${time.nowMs().toString(16).padStart(12, '0')}${String(ids).padStart(20, '0')}`;
      },
      coalesceMs: options.coalesceMs,
      createSettleMs: options.createSettleMs,
      inlineViewBytes: 30,
      source: actor === 'ingest' ? 'ingest' : 'apply',
    });
    const usedPorts = options.wrapPorts?.(ports, actor) ?? ports;
    return {
      worker,
      sqs,
      secretsManager,
      ports: usedPorts,
      kill: () => {
        dead = true;
      },
      freeze: () => {
        // An operator works in a normal process, which AWS does not freeze.
        if (actor !== 'operator' && actor !== 'checker') frozen = [];
      },
      thaw: () => {
        const waiting = frozen ?? [];
        frozen = undefined;
        for (const goOn of waiting) goOn();
      },
    };
  };

  return {
    /**
     * Executes one invocation in an idle or a new container. A crash or a timeout ends the container.
     * @returns whether the invocation ended without a crash or a timeout
     * @throws the error that `run` threw
     */
    async invoke(
      actor: Actor,
      timeoutMs: number,
      run: (container: Container) => Promise<void>,
    ): Promise<boolean> {
      const seat = idle.get(actor)?.pop() ?? open(actor);
      seat.thaw();
      let isOver = false;
      time.at(time.nowMs() + timeoutMs, () => {
        if (isOver) return;
        runLog.fired(`timeout:${actor}`);
        runLog.log({ lane: 'aws', what: `${actor} timed out` });
        seat.kill();
      });
      try {
        await run(seat);
      } catch (error) {
        if (!seat.worker.isDead()) throw error;
      } finally {
        isOver = true;
        seat.freeze();
        // AWS ends a container after some time. The next invocation may then get a new container with another clock.
        if (!seat.worker.isDead() && random.chance(0.9)) idle.set(actor, [...(idle.get(actor) ?? []), seat]);
      }
      return !seat.worker.isDead();
    },
    begin(action: AwsAction) {
      if (action.kind === 'crash') crashes.push({ action, left: action.nth });
      else spells.push({ ...action, untilMs: time.nowMs() + action.forMs });
    },
    /** Ends all faults. */
    calm() {
      spells = [];
      crashes = [];
    },
    /** Returns whether the next invocation starts twice, because SQS and EventBridge deliver at least once. */
    isTwin: () => strikes('twins'),
    effects: () => effects,
    diedMs: () => diedMs,
  };
}
