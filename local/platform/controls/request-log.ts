/** One request to the API, as `GET /_simulator/requests` shows it. */
export interface LoggedRequest {
  readonly seq: number;
  readonly method: string;
  /** Without the query string, which is in `query`. */
  readonly path: string;
  readonly query: string;
  /** 0 when the request was dropped before any work. */
  readonly status: number;
  /** When it was answered: ISO 8601. */
  readonly at: string;
  /** Length of the request's body. */
  readonly bytes: number;
  readonly dropped?: 'before' | 'after';
  readonly body?: unknown;
}

export interface RequestLog {
  record(request: Omit<LoggedRequest, 'seq' | 'body' | 'bytes'>, body: Buffer | undefined): void;
  /** Requests after `since`, and the `since` of the next look. */
  since(since: number, withBodies: boolean): { requests: LoggedRequest[]; next: number };
  clear(): void;
}

export const MOST_REQUESTS = 200_000;
export const MOST_BODY_BYTES = 256 * 1024 * 1024;

interface Entry {
  readonly request: LoggedRequest;
  body: Buffer | undefined;
}

/**
 * A log that keeps the last 200,000 requests and up to 256 MiB of their bodies. Sequence numbers count answers from 1
 * and continue after a clear, so that a client that follows the log misses nothing.
 */
export function createRequestLog(mostRequests = MOST_REQUESTS, mostBodyBytes = MOST_BODY_BYTES): RequestLog {
  let entries: Entry[] = [];
  let last = 0;
  let bodyBytes = 0;
  /** Entries before this index have no body any more. */
  let oldestBody = 0;

  const dropOldestBody = () => {
    const entry = entries[oldestBody];
    oldestBody += 1;
    bodyBytes -= entry?.body?.length ?? 0;
    if (entry !== undefined) entry.body = undefined;
  };

  return {
    record(request, body) {
      last += 1;
      const bytes = body?.length ?? 0;
      entries.push({ request: { seq: last, ...request, bytes }, body });
      bodyBytes += bytes;
      while (bodyBytes > mostBodyBytes) dropOldestBody();
      // A tenth at a time: removing from the front of a long array is not free.
      if (entries.length > mostRequests) {
        const surplus = Math.max(1, Math.floor(mostRequests / 10));
        while (oldestBody < surplus) dropOldestBody();
        entries = entries.slice(surplus);
        oldestBody -= surplus;
      }
    },
    since(since, withBodies) {
      const first = entries[0]?.request.seq ?? last + 1;
      const wanted = entries.slice(Math.max(0, since + 1 - first));
      const requests = wanted.map(({ request, body }) =>
        withBodies && body !== undefined ? { ...request, body: readable(body) } : request,
      );
      return { requests, next: last };
    },
    clear() {
      entries = [];
      bodyBytes = 0;
      oldestBody = 0;
    },
  };
}

/** The body as JSON where it is JSON, else as text. */
function readable(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
