import fc from 'fast-check';
import { expect } from 'vitest';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { connectionName, groupId, intentId, platformUserId } from '../../shared/domain/ids.ts';
import type { Stamp } from '../../shared/domain/stamp.ts';
import type { View } from '../../shared/domain/view.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import { groupKey } from '../../shared/store/keys.ts';
import type { Key } from '../../shared/store/table.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { always } from '../support/engine/runs.ts';

const ref = { connection: connectionName('default'), group: groupId('g') };
const users = (...ids: readonly string[]) => ids.map((id) => platformUserId(id) as never);
const waived = { present: new Set(users('!a')), absent: new Set(users('#b\n')), name: true, spokeId: false };
const waiver = { policy: 'adopt', seen: 's' as Stamp, ...waived } as const;
/** What the platform cannot tell of a view. */
const ODD: readonly Partial<View>[] = [{ alias: ' !x\n' }, { waiver }, { alias: '', waiver }];

const some = fc.uniqueArray(fc.nat(150), { maxLength: 3 });
const deed = fc.record({
  kind: fc.constantFrom('write', 'write', 'write', 'absorb', 'unlink', 'sweep', 'sweep', 'lose'),
  end: fc.constantFrom('flip', 'flip', 'flip', 'drop', 'doubt', 'open'),
  toggled: fc.oneof(some, some, fc.uniqueArray(fc.nat(150), { maxLength: 120 })),
  shape: fc.nat(24),
  hours: fc.constantFrom(0, 0.1, 2),
  /** Before which of its effects it dies. */
  diesAt: fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined, freq: 3 }),
});
type Deed = typeof deed extends fc.Arbitrary<infer Drawn> ? Drawn : never;
/** What somebody else does meanwhile, in whole, and before which of its effects. */
const deeds = fc.array(fc.tuple(deed, fc.integer({ min: 1, max: 14 }), fc.option(deed)), { maxLength: 14 });
const DEATH = new Error('died');

const pointersIn = ({ view, intent, former, doubt, doubts = [] }: GroupState) =>
  [view, intent?.view, former?.view, doubt?.intent.view, ...doubts].filter((one) => one !== undefined);

function createLife() {
  const table = new MemoryTable();
  const written = new Map<string, View>();
  const broken = new Set<string>();
  let [nowMs, ids] = [Date.UTC(2026, 0, 5), 0];
  const inTable = () => [...table.items.values()].filter(({ sk }) => sk.startsWith('VIEW#'));
  const bucketsOf = (id = '-') =>
    String(inTable().find(({ sk }) => sk.startsWith(`VIEW#${id}`))?.['text']).split('\n#').length - 1;
  const unread = async (state: GroupState) => {
    // By somebody who remembers nothing.
    const store = createGroupStore(table, 60);
    const read = await Promise.all(
      pointersIn(state).map(async (one) => [one.id, await store.readView(ref, one)] as const),
    );
    for (const [id, view] of read) if (view !== undefined) expect(view).toEqual(written.get(id));
    return read.filter(([, view]) => view === undefined).map(([id]) => id);
  };
  const createWorker = () => {
    const turn = { before: async (_: string) => {}, puts: 0 };
    const get = (target: MemoryTable, name: 'put') => {
      const run = target[name].bind(target);
      return async (...[at, ...how]: Parameters<typeof run>) => {
        await turn.before(`${name} ${(at as Key).sk}`);
        return run(at, ...how);
      };
    };
    const turns = new Proxy(table, {
      get: (target, name) => (name === 'query' ? target.query.bind(target) : get(target, name as 'put')),
    });
    return { turn, store: createGroupStore(turns, 60) };
  };
  let [worker, other] = [createWorker(), createWorker()];
  const stateNow = async () => (await createGroupStore(table).read(ref)) as GroupState;

  const prepare = async ({ store, turn }: typeof other, seen: GroupState, { toggled, shape }: Deed) => {
    const base = seen.view && (await store.readView(ref, seen.view));
    const after = new Map([...(base?.users ?? [])].reverse());
    for (const user of users(...toggled.map((n) => `é#${n}`)))
      if (!after.delete(user)) after.set(user, shape % 2 === 0);
    const spokeId = shape % 5 === 0 ? null : 'g';
    const view = { name: `#~${shape % 4}`, spokeId, users: after, ...ODD[shape] };
    const id = intentId(nowMs.toString(16).padStart(12, '0') + String(++ids).padStart(20, '0'));
    written.set(id, view);
    const [puts, buckets] = [turn.puts, bucketsOf(seen.view?.id)];
    const pointer = await store.prepareView(seen, id, view, shape > 20 ? 'additive' : 'authoritative');
    if (base !== undefined && buckets > 0 && buckets === bucketsOf(id))
      expect(turn.puts - puts).toBeLessThanOrEqual(toggled.length);
    return { id, view: pointer };
  };
  const run = async (by: typeof other, { kind, end, ...how }: Deed): Promise<unknown> => {
    const { store } = by;
    const seen = (await store.read(ref)) as GroupState;
    if (kind === 'sweep' || kind === 'lose') return store.collect(seen, nowMs);
    if (kind === 'unlink') return store.absorb(seen, undefined);
    let { intent } = seen;
    if (intent === undefined) {
      const { id, view } = await prepare(by, seen, { kind, end, ...how });
      if (kind === 'absorb') return store.absorb(seen, { id: 'p' as never, version: 'v' as never, view });
      intent = { id, action: 'patch', atMs: nowMs, name: '', spokeId: '', view };
      if (!(await store.openIntent(seen, intent))) return false;
    }
    const { doubt, doubts = [] } = await stateNow();
    const inDoubt = [doubt?.intent.view, ...doubts].filter((one) => one !== undefined);
    if (end === 'drop') return store.dropIntent(ref, intent, {});
    if (end === 'doubt') return store.dropIntent(ref, intent, { doubtUntilMs: nowMs, doubts: inDoubt });
    const platform = { id: 'p' as never, version: 'v' as never, view: intent.view as never };
    const counts = { wanted: 0, applied: 0, pending: 0 };
    const flip = { intent: intent.id, seen: { ...seen, intent }, nowMs, wakeAtMs: nowMs, platform, counts };
    return end === 'flip' && store.flip(ref, { ...flip, settled: 'in_sync' });
  };
  const act = async (by: typeof other, mine: Deed, at = 0, then?: Deed | null): Promise<void> => {
    let effects = 0;
    let meanwhile: Promise<void> | undefined;
    by.turn.before = async (effect) => {
      effects += 1;
      if (effects >= (mine.diesAt ?? 99)) throw DEATH;
      if (effects === at && then) {
        nowMs += Math.min(then.hours, 0.1) * 3_600_000;
        meanwhile = act(other, then);
        await meanwhile;
      }
      if (effect.startsWith('put VIEW#~')) by.turn.puts += 1;
    };
    await run(by, mine).catch((cause) => expect(cause).toBe(DEATH));
    await meanwhile;
    // Whoever died remembers nothing.
    if (mine.diesAt !== undefined) [worker, other] = [createWorker(), createWorker()];
  };

  return {
    async live([one, at, then]: readonly [Deed, number, Deed | null]) {
      nowMs += one.hours * 3_600_000;
      const [chunks, seen] = [inTable(), await stateNow()];
      if (one.kind === 'lose' && chunks.length > 0) {
        table.remove(chunks[one.shape % chunks.length] as Key);
        for (const id of await unread(seen)) broken.add(id);
      } else await act(worker, one, at, then);
      expect((await unread(await stateNow())).filter((id) => !broken.has(id))).toEqual([]);
    },
    /** Afterwards whatever is there is needed by something. */
    async sweep() {
      await createGroupStore(table, 60).collect(await stateNow(), nowMs + 2 * 3_600_000);
      const state = await stateNow();
      const lost = await unread(state);
      expect(lost.filter((id) => !broken.has(id))).toEqual([]);
      for (const chunk of lost.length > 0 ? [] : inTable()) {
        table.remove(chunk);
        expect([chunk.sk, await unread(state)]).not.toEqual([chunk.sk, []]);
        await table.put(chunk);
      }
    },
    begin: () => table.put({ ...groupKey(ref), schema: 1, group: ref.group }),
  };
}

always(
  'a view is read as it was written, whoever dies or comes between; only what changed is written, and nothing in use goes',
  fc.asyncProperty(deeds, async (all) => {
    const life = createLife();
    await life.begin();
    for (const one of all) await life.live(one);
    await life.sweep();
  }),
  500,
);
