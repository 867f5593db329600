import * as z from 'zod';
import { badRequest, ScimError } from './errors.ts';
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
 * Reads the body of a bulk request (RFC 7644 section 3.7): its operations, and after how many errors the rest is not tried.
 * @throws ScimError invalidSyntax, or 413 for too many operations
 */
export function readBulk(body: ScimObject) {
  const operations = fieldOf(body, 'Operations');
  if (!Array.isArray(operations)) throw badRequest('invalidSyntax', 'Operations: expected a list');
  if (operations.length > MAX_BULK_OPERATIONS) {
    throw new ScimError(413, `Operations: expected at most ${MAX_BULK_OPERATIONS}`);
  }
  const failOnErrors = FailOnErrors.safeParse(fieldOf(body, 'failOnErrors'));
  if (!failOnErrors.success) throw badRequest('invalidSyntax', 'failOnErrors: expected a whole number');
  // 0 and null set no limit, as clients that have a field for it write.
  return { failOnErrors: failOnErrors.data || undefined, operations: operations.map(readOperation) };
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
    throw badRequest('invalidSyntax', `Operations.${index}: expected a bulkId, which POST needs`);
  }
  return { ...parsed.data, data: fieldOf(given, 'data') };
}

/** Also within a filter, whose quotes have a backslash before them where the text is JSON. */
const REFERENCE = /bulkId:([^/"\\\s]+)/g;

/** The bulkIds that an operation refers to, in its path and anywhere in its data. */
export function referencesOf({ path, data }: BulkOperation): ReadonlySet<string> {
  const text = `${path}\n${JSON.stringify(data ?? null)}`;
  return new Set([...text.matchAll(REFERENCE)].map(([, id = '']) => id));
}

/** The operation with ids in the place of references: a text that is a reference, or the last part of a path. */
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
