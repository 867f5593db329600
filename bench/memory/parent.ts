import type { Table } from '../../shared/store/table.ts';
import type { Page } from '../../simulate/table/partition.ts';
import type { ChildRequest } from './run-in-child.ts';

/** DynamoDB's maximum number of keys per request. */
const KEYS_AT_ONCE = 100;

export type ParentAnswer = readonly [id: number, answer: never];

/** Sends requests to the services of the parent process, and measures the memory of this process. */
export function connectToParent() {
  const waiting = new Map<number, (answer: never) => void>();
  let lastId = 0;
  /** The operating system's peak is not used, because it includes the memory of the parent at the fork. */
  let peakBytes = 0;
  const measure = () => {
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  };
  return {
    ask: <Answer>(what: string, ...args: readonly unknown[]): Promise<Answer> =>
      new Promise((resolve) => {
        lastId += 1;
        waiting.set(lastId, resolve);
        process.send?.([lastId, what, args] as unknown as ChildRequest);
      }),
    receive([id, answer]: ParentAnswer) {
      measure();
      waiting.get(id)?.(answer);
      waiting.delete(id);
    },
    done(result: object) {
      process.send?.([0, 'done', [result]], () => process.exit());
    },
    peakMb(): number {
      measure();
      return peakBytes / 2 ** 20;
    },
  };
}

export type Ask = ReturnType<typeof connectToParent>['ask'];

export function tableThrough(ask: Ask): Table {
  return {
    identity: async () => ({ id: 'first', createdAtMs: 0 }),
    get: (key) => ask('get', key),
    async getMany(keys) {
      const found = [];
      for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
        const some = keys.slice(at, at + KEYS_AT_ONCE);
        found.push(...(await ask<Awaited<ReturnType<Table['getMany']>>>('getMany', some)));
      }
      return found;
    },
    async *query(request) {
      let after: string | undefined;
      do {
        const page: Page = await ask('page', { ...request, after });
        yield page.items;
        after = page.last;
      } while (after !== undefined);
    },
    scan() {
      throw new Error('no function scans');
    },
    put: (...how) => ask('put', ...how),
    update: (...how) => ask('update', ...how),
    delete: (...how) => ask('delete', ...how),
  };
}

export const dispatcherThrough = (ask: Ask) => ({
  request: async ({ method, path, body, headers }: Record<string, unknown>) => {
    const answer = await ask<{ readonly body: Buffer }>('request', { method, path, body, headers });
    return { ...answer, body: [answer.body] };
  },
});

export const sqsThrough = (ask: Ask) => ({
  send: (command: { readonly input: object }) => ask('send', command.constructor.name, command.input),
});
