import { parseSettings } from '../../../../shared/contract/change-setting.ts';
import { isActive } from '../../../../shared/domain/active.ts';
import { desiredGroup, groupFloor, memberCounts } from '../../../../shared/domain/group.ts';
import { connectionName, type GroupRef, groupId } from '../../../../shared/domain/ids.ts';
import { STAMP_ZERO } from '../../../../shared/domain/stamp.ts';
import { createOAuthServer } from '../../../../shared/oauth/oauth-server.ts';
import { handleScim, type ScimPorts } from '../../../../shared/scim/server/handle.ts';
import type { HttpReply } from '../../../../shared/scim/server/http.ts';
import { createRateLimiter } from '../../../../shared/scim/server/limiter.ts';
import { createToken } from '../../../../shared/scim/tokens/tokens.ts';
import type { ConnectionStore } from '../../../../shared/sync/ports/bundles.ts';
import { allStoresOver } from '../../../../simulate/engine.ts';
import { MemoryTable } from '../../../../simulate/table.ts';

export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';
export const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const ORIGIN = 'https://scim.acme.test';
export const BASE = `${ORIGIN}/scim/v2`;

// biome-ignore lint/suspicious/noExplicitAny: answers are read in tests as their assertions expect them
type Body = any;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly cause: unknown;
  /** The log entry about members that a request named and that are not users. */
  readonly stale: unknown;
}

export interface Client {
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown): Promise<Answer>;
  put(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, operations: readonly unknown[], headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
}

interface WorldOptions {
  readonly before?: (operation: string, key: string) => Promise<void>;
  readonly storeProfile?: boolean;
  /** Additional SCIM settings. */
  readonly scim?: object;
  readonly settings?: object;
  readonly connections?: readonly string[];
}

const START_MS = Date.parse('2026-11-20T10:00:00.000Z');

/**
 * Creates the server with a table in memory. A test may set the clock. The ids of resources are consecutive numbers.
 */
export function createWorld({
  before,
  storeProfile = false,
  scim = {},
  settings: more = {},
  connections = ['default', 'other'],
}: WorldOptions = {}) {
  const table = new MemoryTable(before);
  const time = { nowMs: START_MS };
  const woken: GroupRef[] = [];
  let ids = 0;
  let secrets = 0;
  const settings = parseSettings({
    baseUrl: 'https://platform.test',
    scim: { storeProfile, ...scim },
    ...more,
  });
  const find: ConnectionStore['find'] = async (name) =>
    connections.includes(name) ? { name, company: 'acme', settings, observing: false } : undefined;
  const known = { find, current: find, list: async () => [] };
  const clock = () => time.nowMs;
  const stores = allStoresOver(table);
  const { groups, users } = stores;
  const randomHex = (bytes: number) => {
    secrets += 1;
    return String(secrets).padStart(bytes * 2, '0');
  };
  const ports: ScimPorts = {
    clock,
    randomHex,
    oauth: createOAuthServer(),
    coalesceMs: 0,
    newId: () => {
      ids += 1;
      return `id${String(ids).padStart(6, '0')}`;
    },
    ...stores,
    connections: known,
    applyQueue: {
      wake: async (refs) => {
        woken.push(...refs.map(({ connection, group }) => ({ connection, group })));
        return [];
      },
    },
    limiter: createRateLimiter(clock),
  };
  async function newToken(connection = 'default', expiresMs?: number): Promise<string> {
    const { token } = await createToken(connectionName(connection), { ...ports, randomHex }, { expiresMs });
    return token;
  }

  return { table, time, ports, woken, randomHex, newToken, client, anonymous, desired };

  /** Creates a client of one connection. The client calls the server at the URL `origin`. */
  async function client(connection = 'default', origin = ORIGIN): Promise<Client> {
    return clientOf(ports, { authorization: `Bearer ${await newToken(connection)}`, origin });
  }

  function anonymous(authorization?: string): Client {
    return clientOf(ports, { authorization });
  }

  /** Returns the name and the sorted members that apply would write; undefined if the group does not exist. */
  async function desired(id: string, connection = 'default') {
    const ref = { connection: connectionName(connection), group: groupId(id) };
    const state = await groups.read(ref);
    if (state === undefined) return undefined;
    const group = desiredGroup(ref.group, state.registers);
    if (group.state !== 'present') return undefined;
    const floor = groupFloor(state.registers);
    const registers = (await groups.members(ref)).filter((one) => memberCounts(one, floor, STAMP_ZERO));
    const found = await users.read(
      ref.connection,
      registers.map(({ member }) => member),
    );
    const members = registers.filter((register) => {
      const user = found.get(register.member);
      return (
        memberCounts(register, floor, user?.floor ?? STAMP_ZERO) && isActive(user?.attributes ?? new Map())
      );
    });
    return { name: group.name, members: members.map(({ member }): string => member).sort() };
  }
}

export const fullUser = (userName: string) => ({
  schemas: [USER, ENTERPRISE],
  userName,
  externalId: `x-${userName}`,
  active: true,
  name: { givenName: 'G', familyName: 'F', formatted: 'G F' },
  displayName: 'G F',
  emails: [{ value: `${userName}@acme.test`, type: 'work', primary: true }],
  phoneNumbers: [{ value: '1', type: 'mobile' }],
  addresses: [{ type: 'work', locality: 'X', primary: true }],
  roles: [{ value: 'r' }],
  [ENTERPRISE]: { employeeNumber: '7', department: 'D', manager: { value: 'M1' } },
});

const bodyOf = ({ body }: HttpReply): Body => (body === '' ? undefined : JSON.parse(body));

interface Caller {
  readonly authorization: string | undefined;
  readonly origin?: string;
  readonly source?: string;
}

export function clientOf(ports: ScimPorts, { authorization, origin = ORIGIN, source }: Caller): Client {
  const fixed = authorization === undefined ? {} : { authorization };
  const send: Client['send'] = async (method, path, body, headers = {}) => {
    const [pathname = '', query = ''] = path.split('?');
    const {
      reply,
      cause,
      staleMembers: stale,
    } = await handleScim(
      {
        method,
        path: `/scim/v2${pathname}`,
        query,
        headers: { 'content-type': 'application/scim+json', ...fixed, ...headers },
        body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
        origin,
        source,
      },
      ports,
    );
    return { status: reply.status, headers: reply.headers, body: bodyOf(reply), cause, stale };
  };
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body) => send('POST', path, body),
    put: (path, body, headers) => send('PUT', path, body, headers),
    patch: (path, Operations, headers) => send('PATCH', path, { schemas: [PATCH_OP], Operations }, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  };
}
