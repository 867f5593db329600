import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { PlatformErrorFacts, Sent } from './errors.ts';
import { AbortedError, NetworkError, TimeoutError, UnexpectedBodyError } from './errors.ts';
import { MAX_EXCERPTED, safeCause } from './redact.ts';
import type { RetryMethod } from './retry.ts';

/** One HTTP request. `pathTemplate` names its endpoint in errors. */
export interface ExchangeRequest {
  readonly method: RetryMethod;
  readonly origin: string;
  /** The path and query, encoded as they are sent. */
  readonly path: string;
  readonly pathTemplate: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeoutMs: number;
  /** The longest time without a byte of the response, in milliseconds. Default: no limit. */
  readonly idleMs?: number | undefined;
  /** The maximum size of the body of a 2xx response, after decompression. */
  readonly maxBodyBytes: number;
  /** Takes the body of a 2xx response piece by piece while it arrives. The `text` of the response is then empty. */
  readonly take?: ((piece: Buffer) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Texts that must never appear in an error. */
  readonly secrets: readonly string[];
}

/**
 * A response with any status. If the status is not 2xx, `text` is only the beginning of the body. Header names are
 * lower case. For a repeated header, only the first value is kept.
 */
export interface ExchangeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
}

const REQUEST_ID_HEADERS = ['x-request-id', 'x-correlation-id', 'x-amzn-requestid', 'x-amz-cf-id', 'cf-ray'];

/**
 * Sends a request once, and reads the whole response within `timeoutMs`. Redirects are not followed.
 * @throws TimeoutError, NetworkError or AbortedError, each with `sent`; UnexpectedBodyError if a 2xx response is too
 * large or is not valid text; an error of `take`
 */
export async function exchange(dispatcher: Dispatcher, request: ExchangeRequest): Promise<ExchangeResponse> {
  if (request.signal?.aborted) throw abortedError(request, 'no');
  const limit = startTimeLimit(request);
  let answered: { status: number; headers: ExchangeResponse['headers'] } | undefined;
  try {
    const response = await dispatcher.request({
      origin: request.origin,
      path: request.path,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      signal: limit.signal,
      // `startTimeLimit` covers the whole exchange. The timers of undici, which are less exact, only limit pauses.
      headersTimeout: request.idleMs ?? 0,
      bodyTimeout: request.idleMs ?? 0,
    });
    answered = { status: response.statusCode, headers: firstValues(response.headers) };
    const reading = readBody(response.body, answered, request);
    if (isSuccess(answered)) return { ...answered, text: await reading };
    // The status alone decides the error. If the body breaks off, only the excerpt is missing.
    const text = await reading.catch(() => '');
    if (limit.reason() === 'aborted') throw abortedError(request, 'answered', answered);
    return { ...answered, text };
  } catch (thrown) {
    throw failureOf(thrown, request, limit.reason(), answered);
  } finally {
    limit.stop();
  }
}

export function factsOf(
  request: Pick<ExchangeRequest, 'method' | 'pathTemplate'>,
  answer: { readonly status: number; readonly headers: ExchangeResponse['headers'] },
): PlatformErrorFacts & { readonly status: number } {
  const { method, pathTemplate } = request;
  const id = REQUEST_ID_HEADERS.map((name) => answer.headers[name]).find((value) => value !== undefined);
  const requestId = id?.replace(/[^\w.:=+/-]/g, '').slice(0, 128);
  return { method, pathTemplate, sent: 'answered', status: answer.status, requestId };
}

/** The longest time that a timer of Node supports. With a longer time, the timer fires immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Combines the caller's signal and the time limit into one signal, and records which of them fired. */
function startTimeLimit(request: ExchangeRequest) {
  const controller = new AbortController();
  const timeout = AbortSignal.timeout(Math.min(Math.max(1, Math.ceil(request.timeoutMs)), LONGEST_TIMER_MS));
  const end = (why: 'timeout' | 'aborted') => () => controller.abort(why);
  const [onTimeout, onAbort] = [end('timeout'), end('aborted')];
  timeout.addEventListener('abort', onTimeout, { once: true });
  request.signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    reason: (): 'timeout' | 'aborted' | undefined => controller.signal.reason,
    // Removes the listeners. A caller's signal may be used for many calls. With AbortSignal.any, the signal would keep
    // the listeners of all these calls in memory.
    stop() {
      timeout.removeEventListener('abort', onTimeout);
      request.signal?.removeEventListener('abort', onAbort);
    },
  };
}

function failureOf(
  thrown: unknown,
  request: ExchangeRequest,
  ended: 'timeout' | 'aborted' | undefined,
  answered: { status: number; headers: ExchangeResponse['headers'] } | undefined,
): unknown {
  if (thrown instanceof Error && 'pathTemplate' in thrown) return thrown;
  const sent: Sent = neverLeft(thrown) ? 'no' : 'maybe';
  if (ended === 'aborted') return abortedError(request, sent, answered);
  const facts = { ...baseFacts(request, sent, answered), cause: safeCause(thrown, request.secrets) };
  if (ended === 'timeout')
    return new TimeoutError(`no complete answer within ${request.timeoutMs} ms`, facts);
  const code = codeOf(thrown);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return new TimeoutError(`no byte of the answer within ${request.idleMs} ms`, facts);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new TimeoutError('no connection in time', facts);
  return new NetworkError(`the connection failed${code === undefined ? '' : ` (${code})`}`, facts);
}

function abortedError(request: ExchangeRequest, sent: Sent, answered?: Parameters<typeof factsOf>[1]) {
  const cause = safeCause(request.signal?.reason, request.secrets);
  return new AbortedError('the caller ended the call', { ...baseFacts(request, sent, answered), cause });
}

function baseFacts(request: ExchangeRequest, sent: Sent, answered?: Parameters<typeof factsOf>[1]) {
  if (answered !== undefined) return factsOf(request, answered);
  return { method: request.method, pathTemplate: request.pathTemplate, sent };
}

/** Error codes that occur before the first byte of the request is written. */
const BEFORE_SENDING = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_CLOSED',
  'UND_ERR_INVALID_ARG',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/**
 * True only if the request was certainly not sent. A socket that failed in `connect` has sent no data. For any other
 * error, part of the request may have been sent.
 */
function neverLeft(thrown: unknown): boolean {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return thrown.errors.every(neverLeft);
  const code = codeOf(thrown);
  if (code !== undefined && BEFORE_SENDING.has(code)) return true;
  return thrown instanceof Error && 'syscall' in thrown && thrown.syscall === 'connect';
}

function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string'
    ? thrown.code
    : undefined;
}

const firstValues = (headers: Record<string, string | string[] | undefined>): ExchangeResponse['headers'] =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat()[0]]));

/** The content encodings that groupsync accepts and can decompress. */
export const ACCEPTED_ENCODINGS = 'gzip, br';

const DECOMPRESSORS: ReadonlyMap<string, () => Duplex> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The codes of the errors of zlib and Brotli. */
const MALFORMED = /^(?:Z_|ERR__ERROR_)/;

/** Returns the pieces of the body without its content encoding. */
async function* piecesOf(
  body: AsyncIterable<Buffer>,
  headers: ExchangeResponse['headers'],
  facts: PlatformErrorFacts,
): AsyncGenerator<Buffer> {
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity') return yield* body;
  const wanted = `expected a body with the encoding identity, ${ACCEPTED_ENCODINGS}`;
  const malformed = new UnexpectedBodyError(wanted, facts);
  const decompressor = DECOMPRESSORS.get(encoding)?.();
  if (decompressor === undefined) throw malformed;
  // The loop below throws the same error.
  pipeline(body, decompressor).catch(() => {});
  try {
    yield* decompressor as AsyncIterable<Buffer>;
  } catch (thrown) {
    throw MALFORMED.test(codeOf(thrown) ?? '') ? malformed : thrown;
  }
}

const isSuccess = ({ status }: { readonly status: number }): boolean => status >= 200 && status < 300;

/**
 * Reads a body as UTF-8 text, unless `take` takes it. If the status is not 2xx, only the beginning is read.
 * @throws UnexpectedBodyError if a 2xx response is too large, wrongly compressed, or not UTF-8
 */
async function readBody(
  body: AsyncIterable<Buffer>,
  answered: Parameters<typeof factsOf>[1],
  request: ExchangeRequest,
): Promise<string> {
  const facts = factsOf(request, answered);
  const isWhole = isSuccess(answered);
  const max = isWhole ? request.maxBodyBytes : MAX_EXCERPTED;
  const pieces: Buffer[] = [];
  const take = (isWhole ? request.take : undefined) ?? ((piece: Buffer) => pieces.push(piece));
  let size = 0;
  // If the loop ends early, Node destroys the stream and its connection, so no more of the body is read.
  for await (const piece of piecesOf(body, answered.headers, facts)) {
    take(piece);
    size += piece.length;
    if (size > max && !isWhole) break;
    if (size > max) throw new UnexpectedBodyError(`expected at most ${max} bytes`, facts);
  }
  try {
    return new TextDecoder('utf-8', { fatal: isWhole }).decode(Buffer.concat(pieces));
  } catch {
    throw new UnexpectedBodyError('expected UTF-8 text', facts);
  }
}
