import { type ConnectionName, connectionName } from '../../shared/domain/ids.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import {
  ACTION_ACCESS,
  isAdministrator,
  QUERY_ACCESS,
  requireAccess,
  requireRole,
  sees,
  seesMessages,
  withoutHidden,
} from './access.ts';
import { ACTIONS } from './actions.ts';
import type { RequestContext } from './context.ts';
import { everyAttention, everyLive } from './every-connection.ts';
import type { Live } from './live.ts';
import { createOverview, type Overview } from './overview.ts';
import { type ConsoleQuery, QUERIES } from './queries.ts';
import { createReadLog } from './reads.ts';
import type { SignedInPerson } from './roles.ts';
import { createSession } from './session.ts';

export interface ConsoleOptions {
  readonly prefix: string;
  readonly ports: ToolPorts;
  readonly portsOf?: (person: SignedInPerson) => ToolPorts;
  readonly describe: (error: unknown) => string;
  /** Set if the server cannot stream. Then `live` answers once, and the page repeats the request after this time. */
  readonly pollMs?: number;
  /** Completes the commands in a text so that they can be pasted. */
  readonly formatCommands: (text: string, connection: ConnectionName) => string;
}

const READ_EVERY_MS = 1_500;
const LARGEST_BODY_BYTES = 2_000_000;

/**
 * Returns the handler of the page's requests: `GET /api/QUERY` and `POST /api/ACTION`, each with `?connection=`.
 * Without a connection, `live` and `attention` answer for all connections that the person may see. The response of
 * `GET /api/live` stays open and reports changes. The caller must check the token or the session.
 *
 * The roles of a person who signed in decide what the person may do. Without a person, the credentials of the process
 * decide.
 */
export function createHandle(
  consoleOptions: ConsoleOptions,
): (request: Request, person?: SignedInPerson) => Promise<Response> {
  const { prefix, ports, portsOf = () => ports, formatCommands, pollMs } = consoleOptions;
  const overviews = new Map<ConnectionName, Overview>();
  const session = createSession(ports);
  const recordQuery = createReadLog();
  const overviewOf = (connection: ConnectionName) => {
    const overview = overviews.get(connection) ?? createOverview(connection, ports, session);
    overviews.set(connection, overview);
    return overview;
  };
  const answer = async (request: Request, person: SignedInPerson | undefined, describe: Describe) => {
    const { pathname, searchParams } = new URL(request.url);
    const name = pathname.replace('/api/', '');
    const reply = (live: () => Promise<Live>) =>
      answerLive(live, pollMs, () => stream(live, describe, request.signal));
    const every = request.method === 'GET' && !searchParams.has('connection');
    const visible = { person, ports, overviewOf, describe };
    if (every && name === 'live') return reply(() => everyLive(visible));
    if (every && name === 'attention') return Response.json(await everyAttention(visible));
    const connection = connectionIn(searchParams);
    if (!NAME.test(connection)) return problem(400, 'expected ?connection= with the name of a connection');
    const kind = kindOf(request.method, name);
    if (kind === undefined) return problem(404, `not found: ${request.method} ${pathname}`);
    if (person !== undefined) requireAccess(person, connection, ACCESS[kind][name]);
    const context: RequestContext = {
      connection,
      prefix,
      ports: person ? portsOf(person) : ports,
      requireRole: (role) => person && requireRole(person, connection, role),
      isAdministrator: isAdministrator(person, connection),
      sees: (name) => sees(person, name),
      seesMessages: seesMessages(person),
      formatCommands,
      overview: overviewOf(connection),
      session,
      signal: request.signal,
    };
    if (kind === 'action') return perform(name, request, context);
    if (name !== 'live') {
      const queries: Readonly<Record<string, ConsoleQuery>> = QUERIES;
      const found = await queries[name]?.(searchParams, context);
      await recordQuery(name, searchParams, person?.id ?? '', context);
      return Response.json(found);
    }
    return reply(async () => {
      const live = await context.overview.live();
      return person === undefined ? live : withoutHidden(live, person, connection);
    });
  };
  return async (request, person) => {
    const connection = connectionIn(new URL(request.url).searchParams);
    const describe = (error: unknown) => formatCommands(consoleOptions.describe(error), connection);
    try {
      return await answer(request, person, describe);
    } catch (error) {
      const { name: kind } = error instanceof Error ? error : { name: '' };
      return problem(STATUS[kind] ?? 500, describe(error));
    }
  };
}

type Describe = ConsoleOptions['describe'];
const connectionIn = (query: URLSearchParams) => connectionName(query.get('connection') ?? '');

const ACCESS = { action: ACTION_ACCESS, query: QUERY_ACCESS } as const;

function kindOf(method: string, name: string): keyof typeof ACCESS | undefined {
  if (method === 'POST' && Object.hasOwn(ACTIONS, name)) return 'action';
  return method === 'GET' && Object.hasOwn(QUERIES, name) ? 'query' : undefined;
}

const NAME = /^[a-z0-9-]{1,32}$/;
const STATUS: Readonly<Record<string, number>> = {
  NotFound: 404,
  Changed: 409,
  Refused: 403,
  InvalidSettingError: 400,
};
const EVENT_STREAM = { 'content-type': 'text/event-stream' };
export const problem = (status: number, message: string): Response => Response.json({ message }, { status });

async function perform(name: string, request: Request, context: RequestContext): Promise<Response> {
  const body = await boundedText(request);
  if (body === undefined) return problem(413, 'the request body is too large');
  const input = ACTIONS[name]?.input.safeParse(parsed(body));
  if (input?.success !== true)
    return problem(400, input?.error.issues.map(({ message }) => message).join('; ') ?? '');
  try {
    const answer = await ACTIONS[name]?.act(input.data as never, context);
    return answer instanceof ReadableStream ? new Response(answer) : Response.json(answer ?? {});
  } finally {
    context.overview.forget();
  }
}

/** Reads a body. Returns undefined as soon as the body exceeds the limit, and reads no further. */
async function boundedText({ body }: Request): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > LARGEST_BODY_BYTES) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function answerLive(
  read: () => Promise<Live>,
  pollMs: number | undefined,
  stream: () => ReadableStream,
): Promise<Response> {
  const body = pollMs === undefined ? stream() : await polled(read, pollMs);
  return new Response(body, { headers: EVENT_STREAM });
}

const polled = async (read: () => Promise<Live>, pollMs: number): Promise<string> =>
  `retry: ${pollMs}\ndata: ${JSON.stringify(await read())}\n\n`;

/** Streams one line per read of the connection, and a comment line as keep-alive. */
function stream(read: () => Promise<Live>, describe: Describe, signal: AbortSignal) {
  const encoder = new TextEncoder();
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream({
    start(events) {
      const send = (text: string) => signal.aborted || events.enqueue(encoder.encode(text));
      let isReading = false;
      const readNow = async () => {
        send(': here\n\n');
        if (isReading) return;
        isReading = true;
        const live = await read().catch((error: unknown) => ({ problem: describe(error) }));
        isReading = false;
        send(`data: ${JSON.stringify(live)}\n\n`);
      };
      timer = setInterval(readNow, READ_EVERY_MS);
      signal.addEventListener('abort', () => clearInterval(timer));
      return readNow();
    },
    cancel: () => clearInterval(timer),
  });
}
