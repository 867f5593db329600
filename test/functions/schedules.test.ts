import { inspect } from 'node:util';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as people } from '../../functions/people.ts';
import { handler as reconcile } from '../../functions/reconcile.ts';
import { ConnectionSettings } from '../../shared/contract/settings.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { connectionKey } from '../../shared/store/keys.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { ANSWER_PREFIX, PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { MemoryTable } from '../../simulate/table.ts';
import { CONTEXT, fakeBase, OF_ACME } from './fake-base.ts';

const world = vi.hoisted(() => ({
  wired: undefined as unknown,
  ran: [] as string[],
  whole: [] as boolean[],
}));
vi.mock('../../shared/runtime/wire-platform.ts', () => ({ wirePeople: () => world.wired }));
vi.mock('../../shared/runtime/wire-reconcile.ts', () => ({ wireReconcile: () => world.wired }));
vi.mock('../../functions/frame/once.ts', () => ({ once: (wire: () => unknown) => wire }));
vi.mock('../../shared/runtime/run-reconcile.ts', () => ({ runReconcile: turn, runPeople: turn }));
vi.mock('../../shared/sync/reconcile/notify.ts', () => ({
  async notifyOfStage({ isWhole }: { readonly isWhole: boolean }) {
    world.whole.push(isWhole);
    throw new Error('not sent');
  },
}));
async function turn({ name }: Connection) {
  world.ran.push(name);
  if (name === 'broken')
    throw new PlatformFailure('rejected', `g@acme.test is refused${ANSWER_PREFIX}Ann Lee`, {});
  return { connection: name, read: 2 };
}

let base: ReturnType<typeof fakeBase>;
beforeEach(() => {
  base = fakeBase();
  world.ran = [];
  world.whole = [];
  const names = ['first', 'broken', 'last'];
  world.wired = {
    ...base,
    ports: {
      clock: () => 0,
      recordCalls: async () => {},
      connections: {
        list: async () => names.map((name) => ({ name })),
        find: async (name: string) => (names.includes(name) ? { name } : undefined),
      },
    },
  };
});

describe.each([
  ['people', (event: object) => people(event, CONTEXT), 'PeopleRefreshed'],
  ['the requeue job', (event: object) => reconcile({ task: 'pump', ...event }, CONTEXT), 'PumpCompleted'],
] as const)('the schedule of %s', (_, run, metric) => {
  it('a run for all connections does not fail if the platform of one connection fails, but a run for it does', async () => {
    expect(await run({})).toMatchObject({ reports: [{ read: 2 }, { read: 2 }] });
    // The order of the connections differs between runs.
    expect([...world.ran].sort()).toEqual(['broken', 'first', 'last']);
    expect(base.logged('failed')).toMatchObject([{ connection: 'broken' }]);
    expect(base.emitted(metric)).toEqual([1]);
    expect(world.whole).toEqual(metric === 'PumpCompleted' ? [true] : []);
    // Lambda logs the whole error that a function throws.
    const shown = inspect(await run({ connection: 'broken' }).catch((thrown: unknown) => thrown));
    expect(shown).toMatch(/^Error: PlatformFailure: address-\w+ is refused/);
    expect(shown).not.toMatch(/Ann|acme/);
  });

  it('the scheduled function fails for an unknown connection and for an invalid name', async () => {
    await expect(run({ connection: 'missing' })).rejects.toThrow('there is no connection missing');
    await expect(run({ connection: 'No Name' })).rejects.toThrow();
    expect(world.ran).toEqual([]);
  });
});

it('an invalid connection item does not stop the other connections, and makes the run fail', async () => {
  const table = new MemoryTable();
  const connections = createConnectionStore(table, { clock: () => 0, rememberMs: 0 });
  const settings = ConnectionSettings.parse({ baseUrl: 'https://platform.test' });
  for (const name of ['a', 'b'].map(connectionName)) {
    await connections.save({ name, company: 'c', settings, observing: false });
  }
  await table.update(connectionKey(connectionName('a')), { set: { company: 7 } });
  world.wired = { ...base, ports: { clock: () => 0, recordCalls: async () => {}, connections } };
  await expect(reconcile({ task: 'pump' }, CONTEXT)).rejects.toThrow('expected a connection');
  expect(world.ran).toEqual(['b']);
  expect(base.logged('failed')).toMatchObject([{ connection: 'a' }]);
  await reconcile({ task: 'pump', connection: 'b' }, CONTEXT);
  expect([base.emitted('PumpCompleted'), world.whole]).toEqual([
    [1, 1],
    [false, false],
  ]);
});

it('only a run of health for all connections erases the data of members who left', async () => {
  const leavers = vi.fn(async () => 0);
  Object.assign((world.wired as { ports: object }).ports, { eraser: { leavers } });
  await reconcile({ task: 'health', connection: 'first' }, CONTEXT);
  expect(leavers).not.toHaveBeenCalled();
  await reconcile({ task: 'health' }, CONTEXT);
  expect(leavers).toHaveBeenCalledOnce();
});

const DECISION = JSON.stringify({ about: 'probe', connection: 'first' });
it.each([
  ['a refresh of people', people, {}],
  ['a task', reconcile, { task: 'sweep' }],
  ['a decision', reconcile, { task: 'decide', decision: DECISION, proof: {} }],
  ['a question', reconcile, { task: 'ask', question: { credential: 'check' } }],
])('%s about another connection than that of the alias is refused', async (_, run, event) => {
  const call = run({ connection: 'first', ...event }, OF_ACME);
  await expect(call).rejects.toThrow('expected a call about the connection acme, got first');
  expect(world.ran).toEqual([]);
});

it('reconcile refuses an unknown task', async () => {
  await expect(reconcile({ task: 'tidy' }, CONTEXT)).rejects.toThrow();
});
