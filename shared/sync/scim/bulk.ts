import { type BulkOperation, type BulkRequest, readBulk, referencesOf, withIds } from '../../scim/bulk.ts';
import { ScimError } from '../../scim/errors.ts';
import { BULK_RESPONSE, errorBody } from '../../scim/messages.ts';
import type { ScimObject } from '../../scim/value.ts';
import { ok, type ScimReply, type ScimRequest } from './exchange.ts';

/** Answers one operation as if it had come alone; errors are answers too. */
type Run = (request: ScimRequest) => Promise<ScimReply>;

/**
 * Runs the operations of a bulk request in their order, except that one which refers to a resource that a later one
 * makes waits for that. Operations that wait for each other are answered with 409 (RFC 7644 section 3.7.1).
 */
export async function runBulk(body: ScimObject, baseUrl: string, run: Run): Promise<ScimReply> {
  const { operations, failOnErrors = Number.POSITIVE_INFINITY } = readBulk(body);
  const bulk = new BulkRun({ operations, failOnErrors }, baseUrl, run);
  for (const index of operations.keys()) await bulk.reach(index);
  return ok({ schemas: [BULK_RESPONSE], Operations: bulk.answers() });
}

class BulkRun {
  readonly #operations: readonly BulkOperation[];
  readonly #failOnErrors: number;
  readonly #baseUrl: string;
  readonly #run: Run;
  readonly #ids = new Map<string, string>();
  readonly #answers = new Map<number, ScimObject>();
  readonly #begun = new Set<number>();
  #errors = 0;

  constructor(
    { operations, failOnErrors = Number.POSITIVE_INFINITY }: BulkRequest,
    baseUrl: string,
    run: Run,
  ) {
    this.#operations = operations;
    this.#failOnErrors = failOnErrors;
    this.#baseUrl = baseUrl;
    this.#run = run;
  }

  answers(): readonly ScimObject[] {
    return [...this.#answers].toSorted(([a], [b]) => a - b).map(([, answer]) => answer);
  }

  /** Does the operation unless it was done, whatever it waits for first. */
  async reach(index: number): Promise<void> {
    const operation = this.#operations[index];
    if (operation === undefined || this.#begun.has(index) || this.#errors >= this.#failOnErrors) return;
    this.#begun.add(index);
    for (const id of referencesOf(operation)) {
      if (!this.#ids.has(id)) await this.reach(this.#operations.findIndex(({ bulkId }) => bulkId === id));
    }
    // Some of what it waited for may have failed often enough to end the request.
    if (this.#errors >= this.#failOnErrors) return;
    const reply = await this.#do(operation);
    if (reply.status >= 400) this.#errors += 1;
    const { location } = reply.headers;
    if (operation.bulkId !== undefined && location !== undefined) {
      this.#ids.set(operation.bulkId, decodeURIComponent(location.slice(location.lastIndexOf('/') + 1)));
    }
    const { path } = withIds({ ...operation, data: undefined }, this.#ids);
    this.#answers.set(index, answerOf({ ...operation, path }, reply, this.#baseUrl));
  }

  #do(operation: BulkOperation): Promise<ScimReply> {
    const { method, path, version, data } = withIds(operation, this.#ids);
    const missing = [...referencesOf(operation)].filter((id) => !this.#ids.has(id));
    if (missing.length > 0) {
      const { status, message } = new ScimError(409, 'expected a bulkId of an operation that can come first');
      return Promise.resolve({
        status,
        headers: {},
        body: errorBody({ status, scimType: undefined, message }),
      });
    }
    const headers = version === undefined ? {} : { 'if-match': version };
    return this.#run({ method, path, query: {}, headers, body: data });
  }
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
