import { AsyncLocalStorage } from 'node:async_hooks';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { recordedHop } from '../contract/recorded-hop.ts';
import { systemClock } from './clock.ts';

const storage = new AsyncLocalStorage<object[]>();

/** Adds the form of each answer that `run` gets to its result, if `record` is true. See {@link recordable}. */
export async function recording<Answer extends object>(
  record: boolean | undefined,
  run: () => Promise<Answer>,
): Promise<Answer> {
  if (record !== true) return run();
  const hops: object[] = [];
  return { ...(await storage.run(hops, run)), hops };
}

/** Returns a dispatcher whose answers {@link recording} can record. The answers themselves do not change. */
export const recordable = (dispatcher: Dispatcher): Dispatcher =>
  dispatcher.compose((dispatch) => (options, handler) => {
    const hops = storage.getStore();
    return dispatch(options, hops === undefined ? handler : recorderOf(options, handler, hops));
  });

function recorderOf(
  { method, path }: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
  hops: object[],
): Dispatcher.DispatchHandler {
  const sentAtMs = systemClock();
  const chunks: Buffer[] = [];
  let status: number | undefined;
  let headers: Parameters<typeof recordedHop>[0]['headers'] = {};
  const add = (error?: string) => {
    const text = textOf(Buffer.concat(chunks), headers['content-encoding']);
    const tookMs = systemClock() - sentAtMs;
    hops.push(recordedHop({ method, path, tookMs, status, headers, text, error }));
  };
  return {
    onRequestStart: (...args) => handler.onRequestStart?.(...args),
    onResponseStart(...args) {
      [, status, headers] = args;
      handler.onResponseStart?.(...args);
    },
    onResponseData(...args) {
      chunks.push(args[1]);
      handler.onResponseData?.(...args);
    },
    onResponseEnd(...args) {
      add();
      handler.onResponseEnd?.(...args);
    },
    onResponseError(controller, error) {
      add('code' in error && typeof error.code === 'string' ? error.code : error.name);
      handler.onResponseError?.(controller, error);
    },
  };
}

/** The platform client refuses longer bodies too. */
const BOUNDED = { maxOutputLength: 64 * 2 ** 20 };

/** Returns the text of a body; an empty text if the body cannot be decompressed, or is too long. */
function textOf(bytes: Buffer, encoding: unknown): string {
  try {
    if (encoding === 'br') return String(brotliDecompressSync(bytes, BOUNDED));
    return String(encoding === 'gzip' ? gunzipSync(bytes, BOUNDED) : bytes);
  } catch {
    return '';
  }
}
