import type { SQSEvent } from 'aws-lambda';
import type { StackParts } from '../../../local/parts.ts';
import type { GroupReport } from '../../../local/report.ts';

/** Returns fake parts that record the stack's calls. For each event, the fake function ingest creates one group. */
export function fakeParts(over: Partial<StackParts['handlers']> = {}) {
  const calls: string[] = [];
  const groups: GroupReport[] = [];
  const parts: StackParts = {
    handlers: {
      people: () => void calls.push('people'),
      reconcile: (event) => void calls.push(`reconcile ${JSON.stringify(event)}`),
      ingest: (event) => {
        for (const { body } of (event as SQSEvent).Records) groups.push(groupOf(body));
        calls.push('ingest');
      },
      apply: () => void calls.push('apply'),
      ...over,
    },
    directory: () => void calls.push('directory'),
    putConnection: async ({ name, company }) => void calls.push(`connection ${name} of ${company}`),
    countGroups: async () => ({
      all: groups.length,
      unfinished: groups.filter(({ state }) => state === 'dirty').length,
    }),
    readGroups: async () => groups,
    startScim: async () => ({
      url: 'http://127.0.0.1:1/scim/v2',
      token: 'scim-token',
      stop: async () => void calls.push('scim stopped'),
    }),
    endWindow: async () => true,
    endPreviousWork: async () => void calls.push('leases'),
  };
  return { parts, calls, groups, loadParts: async () => parts };
}

export const groupOf = (id: string, state: GroupReport['state'] = 'in_sync'): GroupReport => ({
  connection: 'default',
  id,
  name: `Group ${id}`,
  platformId: 'p1',
  version: 'v1',
  state,
  wanted: 2,
  applied: 1,
  users: ['u1'],
  pending: [{ id: 'm2', cause: 'unknown', sinceMs: 1 }],
  waiting: null,
});

export const WORLD = {
  companies: [{ id: 'c1', name: 'Acme', employees: [] }],
  credentials: [
    { token: 'key', kind: 'api_key', company: 'c1' },
    { token: 'app-token', kind: 'oauth_app', company: 'c1' },
  ],
};
