import * as z from 'zod';
import { checkSchemas } from '../checks.ts';
import { badRequest, PATCH_OP } from '../errors.ts';
import { type PatchPath, parsePatchPath } from '../filter/parse.ts';
import { fieldOf, isObject, type ScimValue } from '../value.ts';

export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: PatchPath | undefined;
  /** undefined if the client sent no value. null is a value. */
  readonly value: ScimValue | undefined;
}

/** Maximum number of operations per request. Identity providers that change many values put them into one operation. */
const MAX_OPERATIONS = 5_000;

const Operation = z.lazy(() =>
  z.object({
    op: z
      .string()
      .toLowerCase()
      .pipe(z.enum(['add', 'remove', 'replace'])),
    path: z.string().nullish(),
  }),
);

/**
 * Reads the body of a PATCH (RFC 7644 section 3.5.2). Names and `op` are case-insensitive, because Entra ID sends
 * `Add`.
 * @throws ScimError invalidSyntax, invalidPath, invalidValue, noTarget or tooMany
 */
export function readPatch(body: ScimValue): readonly PatchOperation[] {
  if (isObject(body)) checkSchemas(body, PATCH_OP);
  const operations = isObject(body) ? fieldOf(body, 'Operations') : undefined;
  if (!Array.isArray(operations) || operations.length === 0) {
    throw badRequest('invalidSyntax', 'Operations: expected a list of at least one operation');
  }
  if (operations.length > MAX_OPERATIONS) {
    throw badRequest('tooMany', `Operations: expected at most ${MAX_OPERATIONS}`);
  }
  return operations.map(readOperation);
}

function readOperation(raw: ScimValue, index: number): PatchOperation {
  const where = `Operations.${index}`;
  if (!isObject(raw)) throw badRequest('invalidSyntax', `${where}: expected an object`);
  const parsed = Operation.safeParse({ op: fieldOf(raw, 'op'), path: fieldOf(raw, 'path') });
  if (!parsed.success) {
    throw badRequest(
      'invalidSyntax',
      `${where}: expected op add, remove or replace, and a path that is a string`,
    );
  }
  const { op, path } = parsed.data;
  const value = fieldOf(raw, 'value');
  if (path == null || path === '') return { op, path: undefined, value: pathless(op, { value, where }) };
  if (op !== 'remove' && value === undefined) throw badRequest('invalidValue', `${where}: expected a value`);
  return { op, path: parsePatchPath(path), value };
}

function pathless(
  op: PatchOperation['op'],
  { value, where }: { readonly value: ScimValue | undefined; readonly where: string },
): ScimValue {
  if (op === 'remove') throw badRequest('noTarget', `${where}: expected a path, because remove needs one`);
  if (value === undefined || !isObject(value)) {
    throw badRequest('invalidValue', `${where}: expected a path, or a value that is an object of attributes`);
  }
  return value;
}
