import { type BulkOperation, readBulk, referencesOf, withIds } from '../../scim/bulk.ts';
import { BULK_RESPONSE, ScimError } from '../../scim/errors.ts';
import { BULK_TIME_MS } from '../../scim/limits.ts';
import type { ScimObject } from '../../scim/value.ts';
import { errorReply, ok, type ScimContext, type ScimReply, type ScimRequest } from './context.ts';

/** Answers one operation as if it had come alone; errors are answers too. */
type Run = (request: ScimRequest) => Promise<ScimReply>;

/**
 * Runs the operations of a bulk request in their order, except that one which refers to a resource that a later one
 * makes waits for that. Operations that wait for each other are answered with 409 (RFC 7644 section 3.7.1), those for
 * which no time is left with 503: what was done is answered in any case.
 */
export async function runBulk(body: ScimObject, { baseUrl, ports: { clock } }: ScimContext, run: Run) {
  const endMs = clock() + BULK_TIME_MS;
  const { operations, failOnErrors = Number.POSITIVE_INFINITY } = readBulk(body);
  const ids = new Map<string, string>();
  const answers = new Map<number, ScimObject>();
  const begun = new Set<number>();
  let errors = 0;
  /** Does the operation unless it was done, whatever it waits for first. */
  const reach = async (index: number): Promise<void> => {
    const operation = operations[index];
    if (operation === undefined || begun.has(index) || errors >= failOnErrors) return;
    begun.add(index);
    for (const id of referencesOf(operation)) {
      if (!ids.has(id)) await reach(operations.findIndex(({ bulkId }) => bulkId === id));
    }
    // Some of what it waited for may have failed often enough to end the request.
    if (errors >= failOnErrors) return;
    const reply = clock() < endMs ? await runOne(operation, ids, run) : errorReply(TOO_LATE);
    if (reply.status >= 400) errors += 1;
    const { location } = reply.headers;
    if (operation.bulkId !== undefined && location !== undefined) {
      ids.set(operation.bulkId, decodeURIComponent(location.slice(location.lastIndexOf('/') + 1)));
    }
    const { path } = withIds({ ...operation, data: undefined }, ids);
    answers.set(index, answerOf({ ...operation, path }, reply, baseUrl));
  };
  for (const index of operations.keys()) await reach(index);
  const inOrder = [...answers].toSorted(([a], [b]) => a - b).map(([, answer]) => answer);
  return ok({ schemas: [BULK_RESPONSE], Operations: inOrder });
}

const TOO_LATE = new ScimError(503, 'not begun, because those before it took too long; send it again');

async function runOne(operation: BulkOperation, ids: ReadonlyMap<string, string>, run: Run) {
  if ([...referencesOf(operation)].some((id) => !ids.has(id))) {
    return errorReply(new ScimError(409, 'expected a bulkId of an operation that can come first'));
  }
  const { method, path, version, data } = withIds(operation, ids);
  const headers = version === undefined ? {} : { 'if-match': version };
  return run({ method, path, query: {}, headers, body: data });
}

/**
 * The body only of errors: the location says where everything else is. Only a POST that failed has none (RFC 7644
 * section 3.7): other operations name a resource, be it gone.
 */
function answerOf(
  { method, bulkId, path }: BulkOperation,
  { status, headers, body }: ScimReply,
  baseUrl: string,
): ScimObject {
  const { etag } = headers;
  const location = headers['location'] ?? (method === 'POST' ? undefined : `${baseUrl}${path}`);
  return {
    method,
    ...(bulkId === undefined ? {} : { bulkId }),
    ...(location === undefined ? { path } : { location }),
    ...(etag === undefined ? {} : { version: etag }),
    status: String(status),
    ...(status >= 400 && body !== undefined ? { response: body } : {}),
  };
}
