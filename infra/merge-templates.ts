export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

/** The fields of a resource or an output that the merge reads. */
interface Conditional {
  readonly [key: string]: Json;
}

const NO_VALUE = { Ref: 'AWS::NoValue' };

/** Fields of a resource that CloudFormation does not evaluate, so they cannot contain `Fn::If`. */
const NOT_EVALUATED = ['Type', 'DeletionPolicy', 'UpdateReplacePolicy', 'Condition', 'Metadata'];

/**
 * Merges two templates of one stack into one template with a condition. `on` is the template if the condition is true,
 * `off` if it is false. A resource or an output that is missing in `off` gets the condition. A property that differs
 * becomes `Fn::If`.
 * @throws Error for a difference that CloudFormation cannot express
 */
export function mergeTemplates(on: JsonObject, off: JsonObject, condition: string): JsonObject {
  const sections = ['Resources', 'Outputs'].map((section) => [
    section,
    mergeSection(objectAt(on, section), objectAt(off, section), condition),
  ]);
  return { ...off, ...Object.fromEntries(sections) };
}

const objectAt = (template: JsonObject, key: string): JsonObject => (template[key] ?? {}) as JsonObject;

function mergeSection(on: JsonObject, off: JsonObject, condition: string): JsonObject {
  const extra = Object.keys(off).filter((id) => !(id in on));
  if (extra.length > 0)
    throw new Error(`expected no resource only without ${condition}, got ${extra.join(', ')}`);
  const entries = Object.entries(on).map(([id, given]) => {
    const withIt = given as Conditional;
    const without = off[id] as Conditional | undefined;
    if (without !== undefined) return [id, mergeResource(withIt, without, { id, condition })];
    if ('Condition' in withIt) throw new Error(`${id}: expected one condition, got ${condition} in addition`);
    return [id, { ...withIt, Condition: condition }];
  });
  return Object.fromEntries(entries);
}

function mergeResource(
  on: Conditional,
  off: Conditional,
  { id, condition }: { readonly id: string; readonly condition: string },
): Conditional {
  const fields = Object.entries(on).map(([field, value]) => {
    const other = off[field];
    if (isEqual(value, other)) return [field, value];
    if (NOT_EVALUATED.includes(field))
      throw new Error(`${id}.${field}: expected the same value with and without ${condition}`);
    // CloudFormation ignores a dependency on a resource whose condition is false.
    if (field === 'DependsOn') return [field, value];
    return [field, merge(value, other, condition)];
  });
  return Object.fromEntries(fields);
}

/** Returns the value of `on`, in which `Fn::If` replaces the smallest parts that differ from `off`. */
function merge(on: Json | undefined, off: Json | undefined, condition: string): Json {
  if (on !== undefined && isEqual(on, off)) return on;
  if (isPlainObject(on) && isPlainObject(off)) {
    const keys = new Set([...Object.keys(on), ...Object.keys(off)]);
    return Object.fromEntries([...keys].map((key) => [key, merge(on[key], off[key], condition)]));
  }
  return { 'Fn::If': [condition, on ?? NO_VALUE, off ?? NO_VALUE] };
}

/** True if the value is an object, but not a call of an intrinsic function. Calls are replaced as a whole. */
const isPlainObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !Object.keys(value).some((key) => key === 'Ref' || key.startsWith('Fn::'));

const isEqual = (a: Json | undefined, b: Json | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b);
