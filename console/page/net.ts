import { signal } from '@preact/signals';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Live } from '../answers.ts';
import { headersOf, token } from './admission.ts';
import { connection } from './route.ts';

export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export type Params = Readonly<Record<string, string | number | undefined>>;

/**
 * null while the server responds. Otherwise the time of the last line of the stream that failed, as ISO 8601. If that
 * stream had no line, the time at which the page requested it.
 */
export const goneSince = signal<string | null>(null);
/** True after the server has refused a session or a token (401). */
export const hasSessionEnded = signal(false);
export const live = signal<(Partial<Live> & { readonly problem?: string }) | null>(null);
export const nowMs = signal(Date.now());

async function call(name: string, params: Params, init: RequestInit = {}): Promise<Response> {
  const query = new URLSearchParams(connection.value === '' ? {} : { connection: connection.value });
  for (const [key, value] of Object.entries(params)) if (value !== undefined) query.set(key, String(value));
  const response = await fetch(`/api/${name}?${query}`, { ...init, headers: headersOf(token) });
  if (response.ok) return response;
  if (response.status === 401) hasSessionEnded.value = true;
  const { message } = (await response.json().catch(() => ({ message: response.statusText }))) as Error;
  throw new Refused(response.status, message);
}

export async function get<Answer>(name: string, params: Params = {}, signal?: AbortSignal): Promise<Answer> {
  const response = await call(name, params, signal === undefined ? {} : { signal });
  return (await response.json()) as Answer;
}

export async function post(name: string, body: object, signal?: AbortSignal): Promise<Response> {
  const init = { method: 'POST', body: JSON.stringify(body), ...(signal === undefined ? {} : { signal }) };
  const response = await call(name, {}, init);
  endWait();
  return response;
}

/** Makes `listen` connect again immediately, so that the page shows the result of an action. */
let endWait: () => void = () => undefined;

export async function signOut(): Promise<void> {
  await fetch('/auth/sign-out', { method: 'POST', headers: headersOf(token) });
  location.assign('/auth/signed-out');
}

export async function* lines(response: Response): AsyncGenerator<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let incomplete = '';
  for (;;) {
    const { done = true, value = '' } = (await reader?.read()) ?? {};
    const parts = (incomplete + value).split('\n');
    incomplete = parts.pop() ?? '';
    yield* parts;
    if (done) return;
  }
}

const SILENT_MS = 4_000;
const AGAIN_MS = 1_000;

/**
 * Reads the live stream while the page is open. If the stream ends, fails or sends nothing for four seconds, the
 * function connects again after one second, or after the time that a line `retry: MILLISECONDS` names. If the operator
 * selects another connection, the function connects again at once. It returns when the session of the person ends.
 */
export async function listen(): Promise<void> {
  while (!hasSessionEnded.value) {
    let againMs = AGAIN_MS;
    const listening = new AbortController();
    let lastLineMs = Date.now();
    const watch = setInterval(() => {
      if (Date.now() - lastLineMs > SILENT_MS) listening.abort();
    }, 500);
    const listenedConnection = connection.value;
    const stop = connection.subscribe((now) => now !== listenedConnection && listening.abort());
    try {
      for await (const line of lines(await call('live', {}, { signal: listening.signal }))) {
        lastLineMs = Date.now();
        goneSince.value = null;
        if (line.startsWith('data: ')) live.value = JSON.parse(line.slice(6));
        if (line.startsWith('retry: ')) againMs = Number(line.slice(7));
      }
    } catch (error) {
      // A refusal is also a response of the server.
      if (error instanceof Refused) goneSince.value = null;
      else if (listenedConnection === connection.value)
        goneSince.value ??= new Date(lastLineMs).toISOString();
    }
    clearInterval(watch);
    if (listenedConnection === connection.value)
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, againMs);
        endWait = () => {
          clearTimeout(timer);
          resolve(undefined);
        };
        listening.signal.addEventListener('abort', endWait);
      });
    stop();
  }
}

export interface Loadable<Answer> {
  readonly value: Answer | undefined;
  readonly error: Error | undefined;
  readonly reload: () => Promise<void>;
}

/**
 * Loads an answer of the server. The answer is loaded again if the connection, the name or the parameters change. If
 * `isLive` is true, each live change loads it again, and the earlier answer is shown until the new answer arrives.
 * @param name the endpoint below `/api`; null loads nothing
 */
export function useAnswer<Answer>(name: string | null, params: Params = {}, isLive = true): Loadable<Answer> {
  const key = JSON.stringify([connection.value, name, params]);
  const [state, setState] = useState<{ key?: string; value?: Answer; error?: Error }>({});
  const latest = useRef(key);
  latest.current = key;
  const load = useCallback(
    async (signal?: AbortSignal) => {
      if (name === null) return;
      try {
        const value = await get<Answer>(name, params, signal);
        if (latest.current === key) setState({ key, value });
      } catch (error) {
        if (signal?.aborted !== true && latest.current === key) {
          // If the server does not respond, a banner reports it. The earlier answer stays on the page.
          setState((before) =>
            before.key === key &&
            before.value !== undefined &&
            !(error instanceof Refused && error.status !== 401)
              ? before
              : { key, error: error as Error },
          );
        }
      }
    },
    [key],
  );
  const revision = isLive ? `${live.value?.revision}${goneSince.value}` : '';
  useEffect(() => {
    const stopping = new AbortController();
    void load(stopping.signal);
    return () => stopping.abort();
  }, [load, revision]);
  const isOfNow = state.key === key;
  return {
    value: isOfNow ? state.value : undefined,
    error: isOfNow ? state.error : undefined,
    reload: () => load(),
  };
}
