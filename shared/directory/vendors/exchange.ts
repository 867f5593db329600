import type { Dispatcher } from 'undici';
import { DirectoryError } from '../ports.ts';

/** The clock, network, credentials and limits that the clients of directories use. */
export interface DirectoryWorld {
  readonly dispatcher: Dispatcher;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a random number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /**
   * Returns a token of AWS STS that names the role of this process. The token is valid for five minutes, and only for
   * `audience`.
   * @throws DirectoryError `denied` if AWS refuses the request, or if the process does not run on AWS; otherwise
   * `unavailable` or `invalid`
   */
  readonly webIdentity: (audience: string) => Promise<string>;
  /**
   * Signs with a private RSA key in KMS (RSASSA-PKCS1-v1_5 with SHA-256). undefined outside the function `directory`.
   * @throws DirectoryError `denied` if AWS refuses the request; otherwise `unavailable`
   */
  readonly kmsSign?: (keyArn: string, message: Uint8Array) => Promise<Uint8Array>;
  /** The end of the run. After this time, no list continues and no call is retried. undefined means no limit. */
  readonly untilMs?: number | undefined;
  /** The attributes of users to read in addition to address and login (`namedAttributes`). undefined means none. */
  readonly attributes?: readonly string[] | undefined;
  /** If true, addresses of this machine and of private networks are refused. A deployed function sets this field. */
  readonly publicOnly?: boolean | undefined;
}

export interface DirectoryRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** The name of the request in errors. The URL is not shown because it can contain an e-mail address. */
  readonly operation: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type DirectoryAnswer = Awaited<ReturnType<typeof exchange>>;

const TIMEOUT_MS = 30_000;
const MAX_BODY_BYTES = 16 * 1_024 * 1_024;

/**
 * Sends a request once and reads the whole answer. No redirect is followed, because another host must not get a token.
 * @throws DirectoryError `unavailable` if the answer is missing or incomplete, `invalid` if it is too large
 */
export async function exchange(request: DirectoryRequest, world: DirectoryWorld) {
  const { operation, url, method, headers, body = null } = request;
  const sentAtMs = world.clock();
  const { origin, pathname, search } = new URL(url);
  try {
    const answer = await world.dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method,
      headers: { accept: 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await readText(operation, answer.body);
    const retryAfter = firstOf(answer.headers['retry-after']);
    const serverTimeMs = Date.parse(firstOf(answer.headers['date']) ?? '');
    const asOfMs = Number.isNaN(serverTimeMs) ? sentAtMs : Math.min(sentAtMs, serverTimeMs);
    return {
      status: answer.statusCode,
      text,
      retryAfter,
      /** The headers, with names in lower case. */
      headers: answer.headers,
      /** The time just before the request was sent, or the time in the header `Date` if that time is earlier. */
      asOfMs,
    };
  } catch (cause) {
    if (cause instanceof DirectoryError) throw cause;
    // The error has no `cause`, because the text of the cause can quote the requested address.
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
    throw new DirectoryError(
      'unavailable',
      `${operation}: no complete answer within ${TIMEOUT_MS} ms${code}`,
    );
  }
}

async function readText(operation: string, body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      throw new DirectoryError('invalid', `${operation}: expected at most ${MAX_BODY_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const firstOf = (header: string | string[] | undefined): string | undefined => [header].flat()[0];

/** Returns all values of a header, which can occur several times. */
export const headersOf = ({ headers }: Pick<DirectoryAnswer, 'headers'>, name: string): readonly string[] =>
  [headers[name] ?? []].flat();
