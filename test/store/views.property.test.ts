import fc from 'fast-check';
import { expect } from 'vitest';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { connectionName, groupId, intentId, platformUserId } from '../../shared/domain/ids.ts';
import type { UserChange, View } from '../../shared/domain/view.ts';
import { changeByDrop, changeByFetch, changeByWrite } from '../../shared/plan/transition.ts';
import { NOTHING_SENT } from '../../shared/plan/uncertain.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import { groupKey } from '../../shared/store/keys.ts';
import type { GroupStore } from '../../shared/sync/ports/bundles.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { callerStorage } from '../support/caller-storage.ts';
import { always } from '../support/engine/runs.ts';

const ref = { connection: connectionName('default'), group: groupId('g') };
const HOUR_MS = 3_600_000;
const users = (...ids: readonly string[]) => ids.map((id) => platformUserId(id) as never);
const waits = new Map([[platformUserId('!a\n'), 'adoption' as const]]);
/** Fields of a view that do not come from an answer of the platform. */
const ODD: readonly Partial<View>[] = [{ alias: ' !x\n' }, { waits, mode: 'report' }, { alias: '', waits }];

const some = fc.uniqueArray(fc.nat(150), { maxLength: 3 });
const action = fc.record({
  kind: fc.constantFrom('write', 'write', 'write', 'storeObserved', 'unlink', 'sweep', 'sweep', 'lose'),
  end: fc.constantFrom('commit', 'commit', 'commit', 'drop', 'uncertain', 'open'),
  toggled: fc.oneof(some, some, fc.uniqueArray(fc.nat(150), { maxLength: 120 })),
  shape: fc.nat(24),
  hours: fc.constantFrom(0, 0.1, 2),
  /** The process stops before the effect with this number. */
  diesAt: fc.option(fc.integer({ min: 1, max: 14 }), { nil: undefined, freq: 3 }),
});
type Action = typeof action extends fc.Arbitrary<infer Drawn> ? Drawn : never;
/** Generates actions of another process. Each runs before the effect of this process with the given number. */
const actions = fc.array(fc.tuple(action, fc.integer({ min: 1, max: 14 }), fc.option(action)), {
  maxLength: 14,
});
const DEATH = new Error('died');

function pointersIn({ link, intent, previousLink, uncertain }: GroupState) {
  const writes = [intent, uncertain?.write];
  const created = writes.map((write) => (write?.action === 'create' ? write.change : undefined));
  const changed = writes.map((write) => (write?.action === 'create' ? undefined : write?.change));
  return {
    views: [link?.view, previousLink?.view, ...created].filter((one) => one !== undefined),
    changes: [uncertain?.change, ...changed].filter((one) => one !== undefined),
  };
}

const acting = callerStorage<(effect: string) => Promise<void>>();

async function live(all: readonly (readonly [Action, number, Action | null])[]): Promise<void> {
  const table = new MemoryTable(async (kind, key) => acting.getStore()?.(`${kind} ${key}`));
  const written = new Map<string, View | UserChange>();
  const broken = new Set<string>();
  let [nowMs, ids, puts] = [Date.UTC(2026, 0, 5), 0, 0];
  const cold = () => createGroupStore(table, 60);
  const stateNow = async () => (await cold().read(ref)) as GroupState;
  const chunksNow = () => table.under(groupKey(ref).pk, 'VIEW#');
  const bucketsOf = (id = '-') =>
    String(chunksNow().find(({ sk }) => sk.includes(id))?.['text']).split('\n#').length - 1;
  let [worker, other] = [cold(), cold()];

  /** Returns the views that a process with an empty cache cannot read. All others must equal the written views. */
  const unread = async () => {
    const missing: string[] = [];
    const { views, changes } = pointersIn(await stateNow());
    const found = [
      ...views.map(async ({ id, ...where }) => [id, await cold().readView(ref, { id, ...where })] as const),
      ...changes.map(
        async ({ id, ...where }) => [id, await cold().readChange(ref, { id, ...where })] as const,
      ),
    ];
    for (const [id, set] of await Promise.all(found)) {
      if (set === undefined) missing.push(id);
      else expect(set).toEqual(written.get(id));
    }
    return missing;
  };
  const newId = () => intentId(nowMs.toString(16).padStart(12, '0') + String(++ids).padStart(20, '0'));
  const prepare = async (store: GroupStore, seen: GroupState, { toggled, shape }: Action) => {
    const base = seen.link && (await store.readView(ref, seen.link.view));
    const after = new Map([...(base?.users ?? [])].reverse());
    for (const user of users(...toggled.map((n) => `é#${n}`)))
      if (!after.delete(user)) after.set(user, shape % 2 === 0);
    const spokeId = shape % 5 === 0 ? null : 'g';
    const view = { name: `#~${shape % 4}`, spokeId, users: after, ...ODD[shape] };
    const id = newId();
    written.set(id, view);
    const [putBefore, buckets] = [puts, bucketsOf(seen.link?.view.id)];
    const pointer = await store.prepareView(seen, id, view);
    const isSpreadAlike = base !== undefined && buckets > 0 && buckets === bucketsOf(id);
    if (isSpreadAlike && store === worker) expect(puts - putBefore).toBeLessThanOrEqual(toggled.length);
    return { id, view: pointer };
  };
  const changed = async (store: GroupStore, seen: GroupState, { toggled }: Action) => {
    const some = users(...toggled.map((n) => `é#${n}`));
    const change = { added: new Set(some), removed: new Set(some.slice(1)) };
    const id = newId();
    written.set(id, change);
    return store.prepareChange(seen, id, change);
  };
  const open = async (store: GroupStore, seen: GroupState, drawn: Action) => {
    const isNew = seen.link === undefined;
    const change = isNew ? (await prepare(store, seen, drawn)).view : await changed(store, seen, drawn);
    const action = isNew ? ('create' as const) : ('patch' as const);
    const intent = { id: change.id, action, atMs: nowMs, name: '', spokeId: '', change };
    return (await store.openIntent(seen, intent)) ? intent : undefined;
  };
  const run = async (store: GroupStore, drawn: Action): Promise<unknown> => {
    const { kind, end } = drawn;
    const seen = (await store.read(ref)) as GroupState;
    if (kind === 'sweep' || kind === 'lose') return store.collect(seen, nowMs);
    if (kind === 'unlink') return store.storeObserved(seen, changeByFetch(seen, undefined));
    const link = { id: 'p' as never, version: 'v' as never };
    if (kind === 'storeObserved') {
      const { view } = await prepare(store, seen, drawn);
      return store.storeObserved(seen, changeByFetch(seen, { ...link, view }));
    }
    const opened = seen.intent ?? (await open(store, seen, drawn));
    if (opened === undefined) return false;
    const { id, action, change } = opened;
    if (end === 'drop') return store.dropIntent(ref, opened, changeByDrop(), true);
    if (end === 'uncertain') {
      const record = { write: opened, sent: NOTHING_SENT, untilMs: nowMs };
      const uncertain = { ...record, change: await changed(store, seen, drawn) };
      return store.dropIntent(ref, opened, changeByDrop({ uncertain }));
    }
    if (end !== 'commit') return false;
    const now = { ...seen, intent: opened };
    const view = action === 'create' && change ? change : (await prepare(store, now, drawn)).view;
    const counts = { wanted: 0, applied: 0, pending: 0 };
    const outcome = { platform: { ...link, view }, writtenAtMs: nowMs, settled: 'in_sync', counts } as const;
    const written = changeByWrite(now, outcome);
    return store.commit(ref, { ...outcome, intent: id, seen: now, wakeAtMs: nowMs, change: written });
  };
  const act = async (store: GroupStore, mine: Action, at = 0, then?: Action | null): Promise<void> => {
    let effects = 0;
    let meanwhile: Promise<void> | undefined;
    const before = async (effect: string) => {
      effects += 1;
      if (effects >= (mine.diesAt ?? 99)) throw DEATH;
      if (effects === at && then) {
        nowMs += Math.min(then.hours, 0.1) * HOUR_MS;
        meanwhile = act(other, then);
        await meanwhile;
      }
      if (store === worker && effect.includes('VIEW#~') && effect.startsWith('put')) puts += 1;
    };
    await acting.run(before, () => run(store, mine)).catch((cause) => expect(cause).toBe(DEATH));
    await meanwhile;
  };

  await table.put({ ...groupKey(ref), schema: 1, group: ref.group });
  for (const [one, at, then] of all) {
    nowMs += one.hours * HOUR_MS;
    const lost = chunksNow()[one.shape];
    if (one.kind === 'lose' && lost !== undefined) {
      table.remove(lost);
      for (const id of await unread()) broken.add(id);
    } else await act(worker, one, at, then);
    // A process that starts after a crash has an empty cache.
    if (one.diesAt !== undefined || then?.diesAt !== undefined) [worker, other] = [cold(), cold()];
    expect((await unread()).filter((id) => !broken.has(id))).toEqual([]);
  }
  // After `collect`, each remaining item must be in use.
  await cold().collect(await stateNow(), nowMs + 2 * HOUR_MS);
  const gone = await unread();
  expect(gone.filter((id) => !broken.has(id))).toEqual([]);
  for (const chunk of gone.length > 0 ? [] : chunksNow()) {
    table.remove(chunk);
    expect([chunk.sk, await unread()]).not.toEqual([chunk.sk, []]);
    await table.put(chunk);
  }
}

always(
  'a view is read as it was written despite crashes, and nothing in use is deleted',
  fc.asyncProperty(actions, live),
  300,
);
