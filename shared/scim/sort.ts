import { valuesAt } from './filter/evaluate.ts';
import { folded } from './fold.ts';
import type { AttributePath, ResourceType } from './resource-type.ts';
import { isObject, type ScimObject, type ScimValue } from './value.ts';

/**
 * Resources in the order of an attribute; those without it last, or first where the order is descending (RFC 7644
 * section 3.4.2.3), equals in the order given. Of several values the primary one counts, else the first.
 */
export function sorted(
  resources: readonly ScimObject[],
  { sortBy, descending }: { readonly sortBy: AttributePath; readonly descending: boolean },
  type: ResourceType,
): readonly ScimObject[] {
  const keyed = resources.map((resource) => ({ resource, key: keyOf(resource, sortBy, type) }));
  const sign = descending ? -1 : 1;
  return keyed
    .toSorted((a, b) => {
      if (a.key === undefined || b.key === undefined)
        return sign * (Number(a.key === undefined) - Number(b.key === undefined));
      return a.key < b.key ? -sign : a.key > b.key ? sign : 0;
    })
    .map(({ resource }) => resource);
}

function keyOf(resource: ScimObject, path: AttributePath, type: ResourceType): string | number | undefined {
  const named = valuesAt(resource, type, path);
  if (named === undefined) return undefined;
  const chosen =
    named.values.find((value) => isObject(value) && value['primary'] === true) ?? named.values[0];
  const value: ScimValue | undefined = isObject(chosen) ? chosen['value'] : chosen;
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') return folded(named.attribute, value);
  return typeof value === 'number' ? value : undefined;
}
