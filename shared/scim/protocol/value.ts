/** Any JSON value in a request or a resource. */
export type ScimValue =
  | null
  | boolean
  | number
  | string
  | readonly ScimValue[]
  | { readonly [name: string]: ScimValue };

/** The attributes of a resource under their canonical names. The attributes of an extension are under its URN. */
export type ScimObject = { readonly [name: string]: ScimValue };

export type ScimDraft = { [name: string]: ScimValue };

export const isObject = (value: unknown): value is ScimObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the values of an attribute as a list, whether it has one, several or none. */
export function elements(value: ScimValue | undefined): readonly ScimValue[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? (value as readonly ScimValue[]) : [value];
}

/** Returns the attribute with this name, case-insensitively (RFC 7643 section 2.1). */
export function fieldOf(value: ScimObject, name: string): ScimValue | undefined {
  if (Object.hasOwn(value, name)) return value[name];
  const folded = name.toLowerCase();
  const found = Object.keys(value).find((key) => key.toLowerCase() === folded);
  return found === undefined ? undefined : value[found];
}

/** Returns whether two values are equal, regardless of the order of their names. */
export function isSameValue(a: ScimValue | undefined, b: ScimValue | undefined): boolean {
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((element: ScimValue, index) => isSameValue(element, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isSameValue(a[name], b[name]));
}
