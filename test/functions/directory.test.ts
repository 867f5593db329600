import { inspect } from 'node:util';
import { beforeEach, expect, it, vi } from 'vitest';
import { handler } from '../../functions/directory.ts';
import { DirectoryError } from '../../shared/directory/ports.ts';
import { newReport } from '../../shared/directory/reading/context.ts';
import type { ReadingOptions } from '../../shared/directory/reading/run.ts';
import type { Delivery } from '../../shared/domain/delivery.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { CONTEXT, fakeBase, OF_ACME } from './fake-base.ts';

const world = vi.hoisted(() => ({ wired: undefined as unknown, ran: [] as string[] }));
vi.mock('../../shared/runtime/wire-directory.ts', () => ({ wireDirectory: () => world.wired }));
vi.mock('../../functions/frame/once.ts', () => ({ once: (wire: () => unknown) => wire }));
vi.mock('../../shared/directory/reading/run.ts', () => ({
  async readDirectory({ name }: Connection, _: unknown, { acceptsDeletions }: ReadingOptions) {
    world.ran.push(acceptsDeletions ? `${name} accepts` : name);
    if (name === 'denied') throw new DirectoryError('denied', 'groups.list: the directory answered 403');
    const unreadable = name === 'broken' ? ['g1', 'g2'] : [];
    return name === 'busy' ? undefined : { ...newReport(name), read: 3, unreadable };
  },
}));

const GOOGLE = { kind: 'google', administrator: 'admin@acme.test' };
const CONNECTIONS = [
  { name: 'first', settings: { directory: GOOGLE } },
  { name: 'denied', settings: { directory: GOOGLE } },
  { name: 'busy', settings: { directory: GOOGLE } },
  { name: 'broken', settings: { directory: GOOGLE } },
  { name: 'events', settings: { directory: null } },
];

let base: ReturnType<typeof fakeBase>;
let recorded: Delivery[];
beforeEach(() => {
  base = fakeBase();
  world.ran = [];
  recorded = [];
  const deliveries = { record: async (_: string, one: Delivery) => void recorded.push(one) };
  const connections = {
    list: async () => CONNECTIONS,
    find: async (name: string) => CONNECTIONS.find((one) => one.name === name),
  };
  world.wired = {
    ...base,
    ports: {
      clock: () => 0,
      newId: () => 'id',
      sleep: async () => {},
      deliveries,
      connections,
      leases: { read: async () => ({ startedMs: 0 }) },
    },
  };
});

it('a run for all connections accepts no deletions, and does not fail if a directory refuses the read or a group is unreadable', async () => {
  expect((await handler({ acceptDeletions: true }, CONTEXT)).reports).toHaveLength(4);
  const failure = await handler({ connection: 'denied' }, CONTEXT).catch((thrown: unknown) => thrown);
  expect(inspect(failure)).toContain('groups.list: the directory answered 403');
  world.ran.pop();
  expect(world.ran.slice().sort()).toEqual(['broken', 'busy', 'denied', 'first']);
  expect(base.logged('failed')).toMatchObject([{ connection: 'denied' }, { connection: 'denied' }]);
  expect(recorded.map(({ summary, outcome, code }) => [summary, outcome, code]).toSorted()).toEqual([
    ['read 3', 'accepted', null],
    ['read 3', 'accepted', null],
    ['stopped', 'failed', 'denied'],
    ['stopped', 'failed', 'denied'],
  ]);
});

it('the directory function reports that no directory is read, or that another run reads it', async () => {
  const skipped = async (connection: string) => (await handler({ connection }, CONTEXT)).reports;
  expect(await skipped('events')).toEqual([{ connection: 'events', skipped: 'no directory is read' }]);
  const since = new Date(0).toISOString();
  const text = `another run of directory began at ${since} and has not ended`;
  expect(await skipped('busy')).toEqual([{ connection: 'busy', skipped: text, since }]);
});

it('the directory function fails after the read if some groups cannot be read, and reads no connection for an alias of another', async () => {
  const read = handler({ connection: 'broken', acceptDeletions: true }, CONTEXT);
  await expect(read).rejects.toThrow('2 groups of the directory cannot be read: g1, g2');
  await expect(handler({ connection: 'broken' }, OF_ACME)).rejects.toThrow('about the connection acme');
  expect(world.ran).toEqual(['broken accepts']);
  expect(base.logged('read')).toMatchObject([{ connection: 'broken', read: 3, unreadable: 2 }]);
});

it('the directory function can test each step of the sign-in of one connection without a read or a log line', async () => {
  const steps = [{ step: 'credential', failure: { kind: 'denied', message: 'no key', reason: undefined } }];
  Object.assign((world.wired as { ports: object }).ports, { directories: { examine: async () => steps } });
  expect(await handler({ connection: 'first', examine: true }, CONTEXT)).toEqual({
    reports: [
      {
        connection: 'first',
        steps: [{ step: 'credential', problem: 'no key', detail: null, reason: null, retries: false }],
      },
    ],
  });
  expect([world.ran, base.logged('ran')]).toEqual([[], []]);
});
