import PQueue from 'p-queue';
import type { Dispatcher } from 'undici';
import type { AttemptFacts, Call, Caller, CallOptions, Limits } from './call.ts';
import { checkedBody, checkedTarget } from './call.ts';
import type { Credential } from './credential.ts';
import { decode } from './decode.ts';
import {
  AbortedError,
  answered,
  errorOfStatus,
  isTooSlow,
  NetworkError,
  orPlatformError,
  PlatformError,
  TimeoutError,
  UnauthorizedError,
} from './errors.ts';
import { ACCEPTED_ENCODINGS, type ExchangeRequest, exchange, factsOf } from './exchange.ts';
import { readElements } from './list-stream.ts';
import { excerptOf, safeCause } from './redact.ts';
import type { ActivityNames } from './resources/activity.ts';
import { decideRetry, type RetryFailure } from './retry.ts';

export interface PlatformClientOptions extends Partial<Limits> {
  /** An https URL, or an http URL of this machine, without user, query or fragment. Its path precedes every path. */
  readonly baseUrl: string;
  /** If true, a `baseUrl` of this machine or of a private network is refused. */
  readonly publicOnly?: boolean | undefined;
  readonly credential: Credential;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly random: () => number;
  /** Waits. The promise rejects if the signal fires during the wait. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Default: an undici Agent. The first call creates it, and `close` closes it. */
  readonly dispatcher?: Dispatcher | undefined;
  readonly activity?: Partial<ActivityNames> | undefined;
  /** The version of groupsync, for the header `User-Agent: groupsync/<version>`. */
  readonly version?: string | undefined;
  readonly onAttempt?: ((facts: AttemptFacts) => void) | undefined;
}

type CallerSettings = Omit<PlatformClientOptions, 'dispatcher' | keyof Limits> &
  Limits & { readonly origin: string; readonly basePath: string; readonly dispatcher: () => Dispatcher };

/** The parts of a call that are the same for all its attempts. */
interface Prepared<T> {
  readonly call: Call<T>;
  readonly request: Omit<ExchangeRequest, 'headers' | 'secrets'>;
  readonly deadlineMs: number;
  readonly options: CallOptions;
}

/**
 * Creates the function through which every call to the platform passes. The function checks the request, adds the
 * token, limits the number of concurrent calls, and retries by the rules of `retry.ts`. It returns the decoded value,
 * or throws an error of `errors.ts`.
 */
export function createCaller(settings: CallerSettings): Caller {
  const limiter = createLimiter(settings.concurrency);
  return async <T>(call: Call<T>, options: CallOptions = {}): Promise<T> => {
    const { method, path: pathTemplate } = call.endpoint;
    const { origin, list } = settings;
    const path = settings.basePath + checkedTarget(call);
    const timeoutMs = options.timeoutMs ?? (call.visit ? list.totalMs : settings.timeoutMs);
    const limits = call.visit
      ? { timeoutMs, idleMs: list.idleMs, maxBodyBytes: list.maxBytes }
      : { timeoutMs, maxBodyBytes: settings.maxBodyBytes };
    const sent = { body: checkedBody(call), ...limits, signal: options.signal };
    const deadlineMs = options.deadlineMs ?? settings.clock() + settings.patienceMs;
    const request = { method, origin, path, pathTemplate, ...sent };
    return run(settings, limiter, { call, request, deadlineMs, options });
  };
}

async function run<T>(settings: CallerSettings, limiter: Limiter, prepared: Prepared<T>): Promise<T> {
  const { method, pathTemplate } = prepared.request;
  const { credential, clock, onAttempt } = settings;
  const { signal, onTry } = prepared.options;
  let renewed = false;
  for (let attempt = 1; ; attempt += 1) {
    const startedMs = clock();
    const report = (facts: Partial<AttemptFacts>) =>
      onAttempt?.({ method, pathTemplate, attempt, durationMs: clock() - startedMs, ...facts });
    const token = await credential.accessToken(signal);
    onTry?.();
    const outcome = await tryOnce(settings, limiter, prepared, token).catch(orPlatformError);
    if (!(outcome instanceof PlatformError)) {
      report({ status: outcome.status, ignoredFields: outcome.ignoredFields });
      return outcome.value;
    }
    // A 401 means that the platform has done nothing. If there is a new token, the call is repeated without a wait.
    const renews: boolean = outcome instanceof UnauthorizedError && !renewed;
    renewed ||= renews;
    const again = renews && (await credential.renewAfter(token, signal));
    const waitMs = again ? 0 : waitAfter(outcome, attempt, settings, prepared);
    report(failedAttempt(prepared.call, outcome, waitMs));
    if (waitMs === undefined) throw outcome;
    if (!again) await pause(settings, waitMs, outcome, signal);
  }
}

/** Sends the request and decodes its response. @throws PlatformError if there is no valid 2xx response */
async function tryOnce<T>(settings: CallerSettings, limiter: Limiter, prepared: Prepared<T>, token: string) {
  const { method, pathTemplate } = prepared.request;
  const { visit, endpoint } = prepared.call;
  const reader = visit && readElements(visit, settings.list, answered(endpoint));
  const answer = await send(settings, limiter, prepared, token, reader?.take);
  reader?.end();
  const facts = factsOf({ method, pathTemplate }, answer);
  const secrets = settings.credential.secrets();
  return { status: answer.status, ...decode(answer.text, prepared.call.decoding, facts, secrets) };
}

const failedAttempt = <T>(call: Call<T>, error: PlatformError, waitMs: number | undefined) => ({
  status: error.status,
  error: error.name,
  waitMs: asksForLess(call, error) ? 0 : waitMs,
});

async function send<T>(
  settings: CallerSettings,
  limiter: Limiter,
  prepared: Prepared<T>,
  token: string,
  take?: ExchangeRequest['take'],
) {
  const { request, options } = prepared;
  const unsent = { method: request.method, pathTemplate: request.pathTemplate, sent: 'no' } as const;
  const secrets = settings.credential.secrets();
  const answer = await limiter(async () => {
    const leftMs = prepared.deadlineMs - settings.clock();
    if (leftMs <= 0) throw new TimeoutError('the deadline passed before the request was sent', unsent);
    const headers = headersOf(settings, token, request.body);
    // The time limit for retries does not shorten a list, because a list that began to arrive is not read again.
    const timeoutMs = take ? request.timeoutMs : Math.min(request.timeoutMs, leftMs);
    return exchange(settings.dispatcher(), { ...request, headers, timeoutMs, secrets, take });
  }, options.signal).catch((thrown: unknown) => {
    if (thrown instanceof PlatformError) throw thrown;
    throw new AbortedError('the caller ended the call', { ...unsent, cause: safeCause(thrown, secrets) });
  });
  if (answer.status >= 200 && answer.status < 300) return answer;
  const facts = { ...factsOf(unsent, answer), excerpt: excerptOf(answer.text, secrets) };
  throw errorOfStatus(facts, answer.headers, settings.clock());
}

function headersOf(settings: CallerSettings, token: string, body: string | undefined) {
  return {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    'accept-encoding': ACCEPTED_ENCODINGS,
    'user-agent': settings.version === undefined ? 'groupsync' : `groupsync/${settings.version}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
}

/** True if the call was too slow, and its caller will request the same data again in smaller pages. */
const asksForLess = <T>({ canShrink }: Call<T>, error: PlatformError): boolean =>
  canShrink === true && isTooSlow(error);

/** Returns the milliseconds until the next attempt, or undefined if no attempt follows. */
function waitAfter<T>(
  error: PlatformError,
  attempt: number,
  settings: CallerSettings,
  prepared: Prepared<T>,
): number | undefined {
  const hasBegun = prepared.call.visit !== undefined && error.status !== undefined && error.status < 300;
  if (error instanceof AbortedError || asksForLess(prepared.call, error) || hasBegun) return undefined;
  return decideRetry({
    method: prepared.request.method,
    failure: failureOf(error),
    attempt,
    maxAttempts: prepared.options.maxAttempts ?? settings.maxAttempts,
    nowMs: settings.clock(),
    deadlineMs: prepared.deadlineMs,
    random: settings.random(),
  });
}

function failureOf(error: PlatformError): RetryFailure {
  const broken = error instanceof TimeoutError || error instanceof NetworkError;
  // A 2xx response that breaks off counts as no response: a read may be repeated, and a write may have taken effect.
  if (broken && (error.status === undefined || error.status < 300)) {
    return { sent: error.sent === 'no' ? 'no' : 'maybe' };
  }
  return { status: error.status ?? 0, retryAfterMs: error.retryAfterMs };
}

async function pause(settings: CallerSettings, ms: number, after: PlatformError, signal?: AbortSignal) {
  try {
    await settings.sleep(ms, signal);
  } catch (thrown) {
    const { method, pathTemplate, sent, status } = after;
    const facts = { method, pathTemplate, sent, status };
    const cause = safeCause(thrown, settings.credential.secrets());
    throw new AbortedError('the caller ended the call between two attempts', { ...facts, cause });
  }
}

/** Runs work when a slot is free, in the order of the calls. If the signal fires earlier, the promise rejects. */
type Limiter = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

export function createLimiter(concurrency: number): Limiter {
  const queue = new PQueue({ concurrency });
  return async (work, signal) => {
    signal?.throwIfAborted();
    const waiting = new AbortController();
    const leave = () => waiting.abort(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    const begin = () => {
      // The queue rejects also work that has begun. But then the request may have been sent.
      signal?.removeEventListener('abort', leave);
      return work();
    };
    return queue.add(begin, { signal: waiting.signal });
  };
}
