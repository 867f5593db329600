import type { Context } from 'aws-lambda';
import { parseWorld, type WorldInput } from '../../../local/platform/state/world.ts';
import { DEFAULT_CONNECTION } from '../../../shared/contract/names.ts';
import type { DriftRecord } from '../../../shared/sync/ports/logs.ts';
import { startLocalStack } from '../../support/local-stack.ts';

export type Initiator = 'ROLE' | 'SYSTEM' | 'EXTERNAL';

export interface ShownGroup {
  readonly id: string;
  readonly name: string;
  readonly spokeId: string | null;
  readonly users: readonly string[];
}

const OTHER_APP = 'token-of-another-app';

export interface CompanyOptions {
  readonly people: number;
  /** Groups that other applications have there already. */
  readonly groups?: readonly { readonly id: string; readonly name: string }[];
  readonly settings: readonly (readonly [key: string, value: unknown])[];
}

/** The local stack in this process, with reconcile in the test's own hands, and other people at the platform. */
export async function startCompany({ people, groups = [], settings }: CompanyOptions) {
  const told = { world: world(people, groups), settings, pumpSeconds: 0.7, createSettleSeconds: '0' };
  const local = await startLocalStack(told);
  const { stack, platform, logs } = local;
  const { ports } = (await import('../../../shared/runtime/wire-platform.ts')).wireLocalStack();
  const call = async (method: string, path: string, body?: unknown, token?: string) => {
    const answer = await fetch(`${platform.url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };
  let sent = 0;

  return {
    ...local,
    /** Log lines and metrics of the handlers, as JSON text. */
    lines: () => logs.flatMap((text) => text.trimEnd().split('\n')),
    ports,
    async publish(events: readonly { readonly type: string; readonly data: unknown }[]) {
      const texts = events.map(({ type, data }) => {
        sent += 1;
        return JSON.stringify({
          specversion: '1.0',
          id: `event-${sent}`,
          source: 'directory',
          type: `directory.${type}`,
          time: new Date().toISOString(),
          sequence: String(sent),
          data,
        });
      });
      await local.send(texts);
    },
    /** Invokes the handler as its schedule does. @returns the report of the one connection */
    async reconcile(task: 'feed' | 'sweep' | 'pump' | 'health') {
      const context = { getRemainingTimeInMillis: () => 900_000 } as Context;
      const { reports } = (await stack.parts.handlers.reconcile({ task }, context)) as {
        reports: Record<string, unknown>[];
      };
      return reports[0] as Record<string, unknown>;
    },
    people: () => stack.parts.handlers.people({}, {} as Context),
    shown: () => call('GET', '/platform/api/groups', undefined, platform.token) as Promise<ShownGroup[]>,
    change: (id: string, change: { initiator: Initiator; [field: string]: unknown }) =>
      call('POST', `/_simulator/groups/${id}`, change),
    remove: (id: string, initiator: Initiator) => call('DELETE', `/_simulator/groups/${id}`, { initiator }),
    createAsOther: (group: { name: string; spokeId: string; users: readonly string[] }) =>
      call('POST', '/platform/api/groups', group, OTHER_APP) as Promise<ShownGroup>,
    employ: (employee: unknown) => call('POST', '/_simulator/employees', employee),
    simulator: (path: string, body?: unknown) =>
      call(body === undefined ? 'GET' : 'POST', `/_simulator/${path}`, body),
    async drift(): Promise<readonly DriftRecord[]> {
      const records: DriftRecord[] = [];
      for await (const page of ports.drift.list(DEFAULT_CONNECTION)) records.push(...page);
      return records;
    },
  };
}

export type Company = Awaited<ReturnType<typeof startCompany>>;

export const person = (n: number) => ({ id: `member-${n}`, email: `person-${n}@acme.test` });
export const userOf = (n: number) => `user-${n}`;

const world = (
  people: number,
  groups: readonly { readonly id: string; readonly name: string }[],
): WorldInput =>
  parseWorld({
    companies: [
      {
        id: 'acme',
        employees: Array.from({ length: people }, (_, n) => ({
          id: `role-${n}`,
          userId: userOf(n),
          workEmail: `person-${n}@acme.test`,
          personalEmail: `home-${n}@acme.test`,
          roleState: 'ACTIVE',
        })),
        groups: groups.map((group) => ({ ...group, spokeId: null, users: [] })),
      },
    ],
    credentials: [
      { token: 'token-of-ours', kind: 'oauth_app', company: 'acme', app: 'groupsync' },
      { token: OTHER_APP, kind: 'oauth_app', company: 'acme', app: 'another-app' },
    ],
  });
