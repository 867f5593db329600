import fc from 'fast-check';
import { expect } from 'vitest';
import type { GroupState, Intent } from '../../shared/domain/group-state.ts';
import { connectionName, groupId, intentId, platformUserId } from '../../shared/domain/ids.ts';
import type { Stamp } from '../../shared/domain/stamp.ts';
import type { View } from '../../shared/domain/view.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import { groupKey } from '../../shared/store/keys.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { always } from '../support/engine/runs.ts';

const ref = { connection: connectionName('default'), group: groupId('g') };
const HOUR_MS = 3_600_000;
const INLINE_BYTES = 60;
const users = (...ids: readonly string[]) => ids.map((id) => platformUserId(id) as never);
const waived = { present: new Set(users('!a')), absent: new Set(users('#b\n')), name: true, spokeId: false };
const waiver = { policy: 'adopt', seen: 's' as Stamp, ...waived } as const;
/** What the platform cannot tell of a view, and so lies where the release before looks for it. */
const ODD: readonly Partial<View>[] = [{ alias: ' !x\n' }, { waiver }, { alias: '', waiver }];

interface Deed {
  readonly kind: 'write' | 'absorb' | 'unlink' | 'settle' | 'sweep' | 'lose';
  readonly end: 'flip' | 'drop' | 'doubt' | 'open';
  readonly toggled: readonly number[];
  readonly shape: number;
  readonly afterHours: number;
  /** Before which of its effects it dies. */
  readonly diesAt: number | undefined;
  /** Before which of its effects somebody else does something in whole. */
  readonly meanwhile?: readonly [at: number, deed: Deed] | undefined;
}

const deed = fc.record<Deed>({
  kind: fc.constantFrom('write', 'write', 'write', 'write', 'absorb', 'unlink', 'settle', 'sweep'),
  end: fc.constantFrom('flip', 'flip', 'flip', 'flip', 'drop', 'doubt', 'open'),
  toggled: fc.oneof(
    { weight: 3, arbitrary: fc.uniqueArray(fc.nat(150), { maxLength: 3 }) },
    fc.uniqueArray(fc.nat(150), { maxLength: 120 }),
  ),
  shape: fc.nat(24),
  afterHours: fc.constantFrom(0, 0, 0.1, 2),
  diesAt: fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined, freq: 3 }),
});
const meanwhile = fc.option(fc.tuple(fc.integer({ min: 1, max: 14 }), deed), { nil: undefined, freq: 3 });
const deeds = fc.array(
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.tuple(deed, meanwhile).map(([one, then]): Deed => ({ ...one, meanwhile: then })),
    },
    deed.map((one): Deed => ({ ...one, kind: 'lose' })),
  ),
  { minLength: 2, maxLength: 14 },
);

const DEATH = new Error('died');
const pointersIn = ({ view, intent, former, doubt, doubts = [] }: GroupState) =>
  [view, intent?.view, former?.view, doubt?.intent.view, ...doubts].filter((one) => one !== undefined);

function createLife() {
  const table = new MemoryTable();
  const life = { nowMs: Date.UTC(2026, 0, 5), ids: 0, table, kept: 0 };
  const written = new Map<string, View>();
  const broken = new Set<string>();
  const inTable = () => [...table.items.values()].filter(({ sk }) => sk.startsWith('VIEW#'));
  const bucketsIn = (id: string) =>
    String(inTable().find(({ sk }) => sk.startsWith(`VIEW#${id}`))?.['text']).split('\n#').length - 1;

  const createWorker = () => {
    const turn = { effect: async (_: string) => {}, puts: 0 };
    const guarded = new Proxy(table, {
      get: (target, name) => {
        const run = target[name as 'put'].bind(target);
        if (name === 'query') return run;
        return async (...[key, ...how]: Parameters<typeof run>) => {
          await turn.effect(`${String(name)} ${key.sk}`);
          return run(key, ...how);
        };
      },
    });
    return { turn, store: createGroupStore(guarded, INLINE_BYTES) };
  };
  let somebody = createWorker();
  const other = createWorker();
  const cold = () => createGroupStore(table, INLINE_BYTES);
  const stateNow = async () => (await cold().read(ref)) as GroupState;

  /** A view that differs from the one before by so many users, kept under a new id. */
  const prepare = async ({ store, turn }: typeof other, seen: GroupState, { toggled, shape }: Deed) => {
    const base = seen.view && (await store.readView(ref, seen.view));
    const after = new Map(base?.users);
    for (const user of users(...toggled.map((n) => `é#${n}`))) {
      if (!after.delete(user)) after.set(user, shape % 2 === 0);
    }
    const spokeId = shape % 5 === 0 ? null : 'g';
    const view = { name: `#~${shape % 4}`, spokeId, users: after, ...ODD[shape] };
    const id = intentId(
      `${life.nowMs.toString(16).padStart(12, '0')}${String(++life.ids).padStart(20, '0')}`,
    );
    written.set(id, view);
    const [putsBefore, seenBuckets] = [turn.puts, bucketsIn(seen.view?.id ?? '-')];
    const pointer = await store.prepareView(seen, id, view, shape > 20 ? 'additive' : 'authoritative');
    const buckets = bucketsIn(id);
    if (base !== undefined && buckets > 0 && buckets === seenBuckets) {
      life.kept += buckets - toggled.length;
      expect(turn.puts - putsBefore).toBeLessThanOrEqual(toggled.length);
    }
    return { id, view: pointer };
  };

  const end = async ({ store }: typeof other, state: GroupState, intent: Intent, how: Deed['end']) => {
    const { nowMs } = life;
    const doubts = [state.doubt?.intent.view, ...(state.doubts ?? [])].filter((one) => one !== undefined);
    if (how === 'drop') await store.dropIntent(ref, intent, {});
    if (how === 'doubt') await store.dropIntent(ref, intent, { doubtUntilMs: nowMs + 9e5, doubts });
    if (how !== 'flip' || intent.view === undefined) return;
    const platform = { id: 'p' as never, version: 'v' as never, view: intent.view };
    const counts = { wanted: 0, applied: 0, pending: 0 };
    const flip = { intent: intent.id, seen: state, nowMs, wakeAtMs: nowMs, platform, counts };
    await store.flip(ref, { ...flip, settled: 'in_sync' });
  };

  const doWith = async (worker: typeof other, { kind, ...how }: Deed) => {
    const { store } = worker;
    const seen = (await store.read(ref)) as GroupState;
    if (kind === 'sweep') return store.collect(seen, life.nowMs);
    if (kind === 'unlink') return store.absorb(seen, undefined);
    if (seen.intent !== undefined) return end(worker, seen, seen.intent, how.end);
    const { id, view } = await prepare(worker, seen, { kind, ...how });
    if (kind === 'absorb') return store.absorb(seen, { id: 'p' as never, version: 'v' as never, view });
    const intent = { id, action: 'patch', atMs: life.nowMs, name: '', spokeId: '', view } as const;
    if (await store.openIntent(seen, intent))
      return end(worker, { ...(await stateNow()), intent }, intent, how.end);
  };

  const run = async (worker: typeof other, { meanwhile: between, ...mine }: Deed): Promise<void> => {
    let effects = 0;
    let meanwhile: Promise<void> | undefined;
    worker.turn.effect = async (effect) => {
      effects += 1;
      if (effects >= (mine.diesAt ?? Number.POSITIVE_INFINITY)) throw DEATH;
      if (effects === between?.[0]) meanwhile = run(other, between[1]);
      if (effects === between?.[0]) await meanwhile;
      if (effect.startsWith('put VIEW#~')) worker.turn.puts += 1;
    };
    await doWith(worker, mine).catch((cause) => {
      if (cause !== DEATH) throw cause;
    });
    // Whoever died beside it does not end it.
    await meanwhile;
  };

  /** Whatever the item leads to is as it was written, for somebody who remembers nothing. */
  const check = async () => {
    for (const pointer of pointersIn(await stateNow())) {
      const read = await cold().readView(ref, pointer);
      if (read !== undefined || !broken.has(pointer.id)) expect(read).toEqual(written.get(pointer.id));
    }
  };

  return Object.assign(life, {
    async live(one: Deed) {
      life.nowMs += one.afterHours * HOUR_MS;
      const chunks = inTable();
      const lost = chunks[one.shape % chunks.length];
      if (one.kind !== 'lose') await run(somebody, one);
      else if (lost !== undefined) {
        table.remove(lost);
        const pointers = pointersIn(await stateNow());
        for (const pointer of pointers)
          if ((await cold().readView(ref, pointer)) === undefined) broken.add(pointer.id);
      }
      if (one.diesAt !== undefined) somebody = createWorker();
      await check();
    },
    /** Everything that lies there after a sweep is needed by something. */
    async sweepAll() {
      life.nowMs += 2 * HOUR_MS;
      await cold().collect(await stateNow(), life.nowMs);
      await check();
      const pointers = pointersIn(await stateNow());
      const unread = async () => {
        const read = await Promise.all(pointers.map((pointer) => cold().readView(ref, pointer)));
        return read.filter((view) => view === undefined).length;
      };
      const before = await unread();
      for (const chunk of broken.size > 0 ? [] : inTable()) {
        table.remove(chunk);
        expect([chunk.sk, await unread()]).not.toEqual([chunk.sk, before]);
        await table.put(chunk);
      }
    },
  });
}

always(
  'a view is read back as it was written, whoever dies or comes between; only what changed is written, and nothing in use goes',
  fc.asyncProperty(deeds, async (all) => {
    const life = createLife();
    await life.table.put({ ...groupKey(ref), schema: 1, group: ref.group });
    for (const one of all) await life.live(one);
    await life.sweepAll();
  }),
  400,
);
