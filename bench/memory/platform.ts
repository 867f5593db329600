import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Tally } from './tally.ts';

/** A group as the platform holds it. */
export interface HeldGroup {
  readonly id: string;
  readonly name: string;
  readonly spokeId: string | null;
  readonly users: readonly string[];
  readonly version: string;
}

export interface MemoryPlatform {
  /** Takes the client's requests in the same process. */
  readonly dispatcher: Dispatcher;
  readonly groups: ReadonlyMap<string, HeldGroup>;
  /** A group that was there long ago: the feed does not tell of it. */
  seed(group: Omit<HeldGroup, 'id' | 'version'>): HeldGroup;
  /** The feed tells of this group once more, as it does some time after our own write. */
  echo(id: string): void;
  /** A change by somebody else. */
  touch(id: string, users: readonly string[]): void;
}

export const COMPANY = 'company-bench';

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const ROUTES: readonly (readonly [RegExp, string])[] = [
  [/^\/platform\/api\/groups\/[^/]+$/, '/groups/{id}'],
  [/^\/platform\/api\/groups$/, '/groups'],
  [/^\/platform\/api\/me$/, '/me'],
  [/^\/platform\/api\/employees\/include_terminated$/, '/employees'],
  [/^\/platform\/api\/company_activity$/, '/activity'],
];

interface FeedEntry {
  readonly id: string;
  readonly group: string;
  readonly deed: 'MEMBER_ADD' | 'MEMBER_REMOVE';
  readonly at: string;
}

/** Pages of the activity feed (specification, "Company activity"). */
const FEED_PAGE = 1_000;

/**
 * The platform as little as the connector needs of it, in memory and at once, with the specification's rules for
 * versions, pages and the feed. Bodies are JSON text as on the wire, so the client's own work is done and measured.
 */
export function createMemoryPlatform(options: {
  readonly tally: Tally;
  readonly clock: () => number;
  /** People of the company: role `r<n>`, user `u<n>`, address `p<n>@bench.test`. */
  readonly people: number;
}): MemoryPlatform {
  const { tally, clock, people } = options;
  const groups = new Map<string, HeldGroup>();
  const feed: FeedEntry[] = [];
  let serial = 0;

  const tell = (group: string, deed: FeedEntry['deed'] = 'MEMBER_ADD') => {
    serial += 1;
    feed.push({ id: `e${serial}`, group, deed, at: new Date(clock()).toISOString() });
  };

  const hold = (group: Omit<HeldGroup, 'version'>): HeldGroup => {
    tell(group.id);
    const held = { ...group, version: `v${serial}` };
    groups.set(group.id, held);
    return held;
  };

  const ofGroup = (method: string, id: string, body: unknown): Answer => {
    const known = groups.get(id);
    if (known === undefined) return { status: 404, body: { error: 'no such group' } };
    if (method === 'GET') return { status: 200, body: known };
    if (method === 'DELETE') {
      groups.delete(id);
      return { status: 200, body: {} };
    }
    const { version, ...fields } = body as Partial<HeldGroup>;
    if (version !== known.version) return { status: 409, body: { error: 'stale version' } };
    return { status: 200, body: hold({ ...known, ...fields }) };
  };

  const answer = ({ method, path, body }: Request): Answer => {
    const url = new URL(path, 'http://platform.test');
    const route = ROUTES.find(([pattern]) => pattern.test(url.pathname))?.[1];
    tally.add(`platform ${method} ${route}`);
    switch (route) {
      case '/me':
        return { status: 200, body: { id: 'u0', workEmail: 'p0@bench.test', company: COMPANY } };
      case '/groups': {
        if (method === 'GET') return { status: 200, body: [...groups.values()] };
        const { name, spokeId, users } = body as HeldGroup;
        return { status: 201, body: hold({ id: `g${groups.size}-${serial}`, name, spokeId, users }) };
      }
      case '/groups/{id}':
        return ofGroup(method, decodeURIComponent(url.pathname.split('/').at(-1) ?? ''), body);
      case '/employees':
        return { status: 200, body: employees(url.searchParams, people) };
      case '/activity': {
        const from = Number(url.searchParams.get('next') ?? 0);
        const events = feed.slice(from, from + FEED_PAGE).map(activityOf);
        const next = from + events.length;
        // A cursor that is given even at the end, as a feed that can be followed must.
        return { status: 200, body: { data: { events, next: String(next) }, error: null } };
      }
      default:
        return { status: 404, body: { error: `no such endpoint: ${path}` } };
    }
  };

  return {
    dispatcher: dispatcherOver(answer),
    groups,
    seed(group) {
      const held = hold({ ...group, id: `s${serial}` });
      feed.pop();
      return held;
    },
    echo: (id) => tell(id),
    touch(id, users) {
      const known = groups.get(id);
      if (known === undefined) return;
      hold({ ...known, users });
      tell(id, 'MEMBER_REMOVE');
    },
  };
}

function employees(query: URLSearchParams, people: number): readonly object[] {
  const offset = Number(query.get('offset') ?? 0);
  const length = Math.max(0, Math.min(Number(query.get('limit') ?? 100), people - offset));
  return Array.from({ length }, (_, n) => ({
    id: `r${offset + n}`,
    userId: `u${offset + n}`,
    roleState: 'ACTIVE',
    workEmail: `p${offset + n}@bench.test`,
  }));
}

const activityOf = ({ id, group, at, deed }: FeedEntry) => ({
  id,
  timestamp: at,
  event_type: `EXTERNAL_GROUP_${deed}`,
  subjects: [{ type: 'GROUP', instance: group }],
  initiator: { type: 'EXTERNAL' },
});

function dispatcherOver(answer: (request: Request) => Answer): Dispatcher {
  const request = async ({ method, path, body }: { method: string; path: string; body: string | null }) => {
    const { status, body: answered } = answer({
      method,
      path,
      ...(body === null ? {} : { body: JSON.parse(body) }),
    });
    await new Promise((resolve) => setImmediate(resolve));
    return {
      statusCode: status,
      headers: { 'content-type': 'application/json' },
      body: Readable.from([Buffer.from(JSON.stringify(answered))]),
    };
  };
  // The client asks a dispatcher for nothing else.
  return { request } as unknown as Dispatcher;
}
