import { type BulkOperation, readBulk, referencesOf, withIds, withoutReferences } from '../../scim/bulk.ts';
import { BULK_RESPONSE, ScimError } from '../../scim/errors.ts';
import { BULK_TIME_MS } from '../../scim/limits.ts';
import type { ScimDraft, ScimObject } from '../../scim/value.ts';
import { errorReply, ok, type ScimContext, type ScimReply, type ScimRequest } from './context.ts';

/** Runs one operation like a separate request. An error becomes a reply too. */
type Run = (request: ScimRequest) => Promise<ScimReply>;

/**
 * Runs the operations of a bulk request in order. If an operation refers to a resource that a later operation creates,
 * the later operation runs first. After the time limit, the remaining operations get a 503, so that the client knows
 * which operations ran. After `failOnErrors` errors, the remaining operations get no reply.
 */
export async function runBulk(body: ScimObject, context: ScimContext, run: Run) {
  const batch = new Batch(readBulk(body), context, run);
  return ok({ schemas: [BULK_RESPONSE], Operations: await batch.answers() });
}

const TOO_LATE = new ScimError(
  503,
  'not started, because earlier operations took too long: send the operation again',
);
const UNRESOLVED = new ScimError(409, 'expected bulkIds of operations that succeed');

class Batch {
  readonly #operations: readonly BulkOperation[];
  readonly #failOnErrors: number;
  readonly #context: ScimContext;
  readonly #run: Run;
  readonly #endMs: number;
  /** The ids of the written resources by the bulkId of their operations. */
  readonly #ids = new Map<string, string>();
  readonly #replies = new Map<number, ScimReply>();
  readonly #begun = new Set<number>();
  /** The operations whose resource was created without its circular references. */
  readonly #incomplete: number[] = [];
  #errors = 0;

  constructor(
    { operations, failOnErrors = Number.POSITIVE_INFINITY }: ReturnType<typeof readBulk>,
    context: ScimContext,
    run: Run,
  ) {
    this.#operations = operations;
    this.#failOnErrors = failOnErrors;
    this.#context = context;
    this.#run = run;
    this.#endMs = context.ports.clock() + BULK_TIME_MS;
  }

  /** Runs the operations. @returns the replies of those that ran, in the order of the operations */
  async answers(): Promise<readonly ScimObject[]> {
    for (const index of this.#operations.keys()) await this.#reach(index);
    for (const index of this.#incomplete) await this.#complete(index);
    return [...this.#operations.entries()].flatMap(([index, operation]) => {
      const reply = this.#replies.get(index);
      const { path } = withIds({ ...operation, data: undefined }, this.#ids);
      return reply === undefined ? [] : [answerOf({ ...operation, path }, reply, this.#context.baseUrl)];
    });
  }

  get #isEnded(): boolean {
    return this.#errors >= this.#failOnErrors;
  }

  /** Runs the operation, if it has not started yet. The operations that create its referenced resources run first. */
  async #reach(index: number): Promise<void> {
    const operation = this.#operations[index];
    if (operation === undefined || this.#begun.has(index) || this.#isEnded) return;
    this.#begun.add(index);
    for (const id of referencesOf(operation)) {
      if (!this.#ids.has(id)) await this.#reach(this.#indexOf(id));
    }
    // One of the referenced operations may have reached the limit `failOnErrors`.
    if (this.#isEnded) return;
    this.#note(index, await this.#runOne(index, operation));
  }

  #indexOf(bulkId: string): number {
    return this.#operations.findIndex((operation) => operation.bulkId === bulkId);
  }

  #note(index: number, reply: ScimReply): void {
    if (reply.status >= 400) this.#errors += 1;
    this.#replies.set(index, reply);
    const { location } = reply.headers;
    const bulkId = this.#operations[index]?.bulkId;
    if (bulkId === undefined || location === undefined) return;
    this.#ids.set(bulkId, decodeURIComponent(location.slice(location.lastIndexOf('/') + 1)));
  }

  async #runOne(index: number, operation: BulkOperation): Promise<ScimReply> {
    if (this.#context.ports.clock() >= this.#endMs) return errorReply(TOO_LATE);
    const missing = [...referencesOf(operation)].filter((id) => !this.#ids.has(id));
    if (missing.length === 0) return this.#send(withIds(operation, this.#ids));
    const { data } = operation;
    const isCircle = missing.every((id) => this.#isWaiting(id));
    if (operation.method !== 'POST' || data === undefined || !isCircle) return errorReply(UNRESOLVED);
    this.#incomplete.push(index);
    return this.#send(withIds({ ...operation, data: withoutReferences(data, new Set(missing)) }, this.#ids));
  }

  /** Returns whether the operation waits for another operation. A reference to it is then circular. */
  #isWaiting(bulkId: string): boolean {
    const index = this.#indexOf(bulkId);
    return this.#begun.has(index) && !this.#replies.has(index);
  }

  #send({ method, path, version, data }: BulkOperation): Promise<ScimReply> {
    const headers = version === undefined ? {} : { 'if-match': version };
    return this.#run({ method, path, query: {}, headers, body: data });
  }

  /**
   * Adds the circular references to a created resource (RFC 7644 section 3.7.1). After an error, the resource is
   * deleted and its operation gets a 409.
   */
  async #complete(index: number): Promise<void> {
    const operation = this.#operations[index];
    const created = this.#replies.get(index);
    const id = this.#ids.get(operation?.bulkId ?? '');
    if (operation === undefined || created === undefined || id === undefined) return;
    const path = `${operation.path}/${encodeURIComponent(id)}`;
    const isResolved = [...referencesOf(operation)].every((one) => this.#ids.has(one));
    const whole = withIds({ ...operation, method: 'PUT', path }, this.#ids);
    const reply = isResolved ? await this.#send(whole) : errorReply(UNRESOLVED);
    if (reply.status < 400) {
      this.#replies.set(index, { ...created, headers: { ...created.headers, ...reply.headers } });
      return;
    }
    await this.#send({ method: 'DELETE', path, data: undefined });
    this.#errors += 1;
    this.#replies.set(index, errorReply(UNRESOLVED));
  }
}

/**
 * Returns the result of one operation. Only an error includes a body, because the location is enough for a success.
 * Only a failed POST has no location (RFC 7644 section 3.7), because it names no resource.
 */
function answerOf(
  { method, bulkId, path }: BulkOperation,
  { status, headers, body }: ScimReply,
  baseUrl: string,
): ScimObject {
  const { etag } = headers;
  const location = headers['location'] ?? (method === 'POST' ? undefined : `${baseUrl}${path}`);
  const answer: ScimDraft = { method };
  if (bulkId !== undefined) answer['bulkId'] = bulkId;
  if (location === undefined) answer['path'] = path;
  else answer['location'] = location;
  if (etag !== undefined) answer['version'] = etag;
  answer['status'] = String(status);
  if (status >= 400 && body !== undefined) answer['response'] = body;
  return answer;
}
