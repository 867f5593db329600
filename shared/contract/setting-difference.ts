import { jsonValue } from './json.ts';

/** Describes a change of a JSON value: `guard.minSize: 2 → 5`. Of two objects, it names only the fields that differ. */
export function settingDifference(key: string, before: string | null, after: string | null): string {
  const texts = [before ?? 'nothing', after ?? 'nothing'];
  if (!texts.every((text) => text.startsWith('{'))) return `${key}: ${texts.join(' → ')}`;
  const values = texts.map((text): Record<string, unknown> => Object(jsonValue(text)));
  const textsOf = (field: string) => values.map((value) => JSON.stringify(value[field]) ?? 'nothing');
  return [...new Set(values.flatMap(Object.keys))]
    .filter((field) => new Set(textsOf(field)).size > 1)
    .map((field) => `${key}.${field}: ${textsOf(field).join(' → ')}`)
    .join(', ');
}
