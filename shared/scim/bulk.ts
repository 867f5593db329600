import * as z from 'zod';
import { checkSchemas } from './checks.ts';
import { BULK_REQUEST, badRequest, PATCH_OP, ScimError } from './errors.ts';
import { MAX_BULK_OPERATIONS } from './limits.ts';
import { fieldOf, isObject, type ScimObject, type ScimValue } from './value.ts';

export interface BulkOperation {
  readonly method: string;
  readonly path: string;
  readonly bulkId?: string | undefined;
  readonly version?: string | undefined;
  readonly data: ScimValue | undefined;
}

const Operation = z.lazy(() =>
  z.object({
    method: z
      .string()
      .toUpperCase()
      .pipe(z.enum(['POST', 'PUT', 'PATCH', 'DELETE'])),
    path: z.string().startsWith('/'),
    bulkId: z.string().optional(),
    version: z.string().optional(),
  }),
);

const FailOnErrors = z.lazy(() => z.int().min(0).nullish());

/**
 * Reads the body of a bulk request (RFC 7644 section 3.7): its operations, and the maximum number of errors.
 * @throws ScimError invalidSyntax, invalidValue, or 413 for too many operations
 */
export function readBulk(body: ScimObject) {
  checkSchemas(body, BULK_REQUEST);
  const operations = fieldOf(body, 'Operations');
  if (!Array.isArray(operations)) throw badRequest('invalidSyntax', 'Operations: expected a list');
  if (operations.length > MAX_BULK_OPERATIONS) {
    throw new ScimError(413, `Operations: expected at most ${MAX_BULK_OPERATIONS}`);
  }
  const failOnErrors = FailOnErrors.safeParse(fieldOf(body, 'failOnErrors'));
  if (!failOnErrors.success) throw badRequest('invalidSyntax', 'failOnErrors: expected a whole number');
  // 0 and null mean no limit, because some clients always send the field.
  const read = operations.map(readOperation);
  checkBulkIds(read);
  return { failOnErrors: failOnErrors.data || undefined, operations: read };
}

/** @throws ScimError invalidValue for a duplicate bulkId (RFC 7644 section 3.7) */
function checkBulkIds(operations: readonly BulkOperation[]): void {
  const seen = new Set<string>();
  for (const [index, { bulkId }] of operations.entries()) {
    if (bulkId === undefined) continue;
    if (seen.has(bulkId)) {
      throw badRequest(
        'invalidValue',
        `Operations.${index}: expected a bulkId that is unique in the request`,
      );
    }
    seen.add(bulkId);
  }
}

function readOperation(raw: ScimValue, index: number): BulkOperation {
  const given = isObject(raw) ? raw : {};
  const parsed = Operation.safeParse({
    method: fieldOf(given, 'method'),
    path: fieldOf(given, 'path'),
    bulkId: fieldOf(given, 'bulkId') ?? undefined,
    version: fieldOf(given, 'version') ?? undefined,
  });
  if (!parsed.success) {
    throw badRequest(
      'invalidSyntax',
      `Operations.${index}: expected method POST, PUT, PATCH or DELETE, and a path`,
    );
  }
  if (parsed.data.method === 'POST' && parsed.data.bulkId === undefined) {
    throw badRequest('invalidSyntax', `Operations.${index}: expected a bulkId, because POST needs one`);
  }
  const data = fieldOf(given, 'data');
  // In the example of RFC 7644 section 3.7.3, `data` of a PATCH is the list of operations without an object around
  // it.
  const isBare = parsed.data.method === 'PATCH' && Array.isArray(data);
  return { ...parsed.data, data: isBare ? { schemas: [PATCH_OP], Operations: data } : data };
}

/** Matches a reference. Inside a filter, JSON puts a backslash before the quotes around the reference. */
const REFERENCE = /bulkId:([^/"\\\s]+)/g;

/** Returns the bulkIds that an operation refers to, in its path and anywhere in its data. */
export function referencesOf({ path, data }: BulkOperation): ReadonlySet<string> {
  const text = `${path}\n${JSON.stringify(data ?? null)}`;
  return new Set([...text.matchAll(REFERENCE)].map(([, id = '']) => id));
}

/** Returns the operation with all references in its path and data replaced by ids. */
export function withIds(operation: BulkOperation, ids: ReadonlyMap<string, string>): BulkOperation {
  const resolve = (text: string) => text.replace(REFERENCE, (whole, id: string) => ids.get(id) ?? whole);
  const resolveIn = (value: ScimValue): ScimValue => {
    if (typeof value === 'string') return resolve(value);
    if (Array.isArray(value)) return value.map(resolveIn);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, resolveIn(item)]));
  };
  const { path, data } = operation;
  return { ...operation, path: resolve(path), data: data === undefined ? undefined : resolveIn(data) };
}

/**
 * Returns the data without values that refer to these bulkIds, such as members and managers. If the `value` of an
 * object refers to one of them, the whole object is left out.
 */
export function withoutReferences(data: ScimValue, bulkIds: ReadonlySet<string>): ScimValue | undefined {
  if (typeof data === 'string') {
    return [...data.matchAll(REFERENCE)].some(([, id = '']) => bulkIds.has(id)) ? undefined : data;
  }
  if (Array.isArray(data)) {
    return data.flatMap((item: ScimValue) => withoutReferences(item, bulkIds) ?? []);
  }
  if (!isObject(data)) return data;
  const parts = Object.entries(data).flatMap(([name, item]): [string, ScimValue][] => {
    const kept = withoutReferences(item, bulkIds);
    return kept === undefined ? [] : [[name, kept]];
  });
  const kept = Object.fromEntries(parts);
  return data['value'] !== undefined && kept['value'] === undefined ? undefined : kept;
}
