/** One request to the API, as `GET /_simulator/requests` shows it. */
interface LoggedRequest {
  readonly seq: number;
  readonly method: string;
  /** The path without the query string. `query` contains the query string. */
  readonly path: string;
  readonly query: string;
  /** The status of the response; 0 if the request was dropped before it took effect. */
  readonly status: number;
  /** The time of the response in ISO 8601. */
  readonly at: string;
  readonly bytes: number;
  readonly dropped?: 'before' | 'after';
  readonly body?: unknown;
}

export interface RequestLog {
  record(request: Omit<LoggedRequest, 'seq' | 'body' | 'bytes'>, body: Buffer | undefined): void;
  /** Returns the requests after the sequence number `since`, and the value of `since` for the next call. */
  since(since: number, withBodies: boolean): { requests: LoggedRequest[]; next: number };
  clear(): void;
}

const MAX_REQUESTS = 200_000;
const MAX_BODY_BYTES = 256 * 1024 * 1024;

interface Entry {
  readonly request: LoggedRequest;
  body: Buffer | undefined;
}

/**
 * A log of the last 200,000 requests and up to 256 MiB of their bodies. Sequence numbers start at 1 and continue after
 * the log is cleared. So a client that follows the log misses no request.
 */
export function createRequestLog(maxRequests = MAX_REQUESTS, maxBodyBytes = MAX_BODY_BYTES): RequestLog {
  let entries: Entry[] = [];
  let last = 0;
  let bodyBytes = 0;
  /** Entries before this index no longer have a body. */
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
      while (bodyBytes > maxBodyBytes) dropOldestBody();
      // A tenth of the entries is removed at once, because removing from the front of a long array is slow.
      if (entries.length > maxRequests) {
        const surplus = Math.max(1, Math.floor(maxRequests / 10));
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

function readable(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
