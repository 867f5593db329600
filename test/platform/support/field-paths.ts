/* The paths have the form of specification.ts: `a.b`, `a[].b`, `[].a`. */

/** Returns a copy of `value` with a changed first field at `path`; undefined if there is no such field. */
export function changeAt(value: unknown, path: string): unknown {
  return change(value, steps(path));
}

export const hasAt = (value: unknown, path: string): boolean => changeAt(value, path) !== undefined;

function steps(path: string): string[] {
  return path
    .replaceAll('[]', '.[]')
    .split('.')
    .filter((step) => step !== '');
}

function change(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (value === undefined) return undefined;
  if (step === undefined) return other(value);
  if (step === '[]') return Array.isArray(value) ? changeFirst(value, rest) : undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const changed = change((value as Record<string, unknown>)[step], rest);
  return changed === undefined ? undefined : { ...value, [step]: changed };
}

function changeFirst(items: readonly unknown[], rest: readonly string[]): unknown {
  for (const [at, item] of items.entries()) {
    const changed = change(item, rest);
    if (changed !== undefined) return items.map((same, index) => (index === at ? changed : same));
  }
  return undefined;
}

/** Returns another value of the same type. A date becomes another date, and a decimal another decimal. */
function other(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string')
    return /\d$/.test(value) ? value.replace(/\d$/, (d) => `${(Number(d) + 1) % 10}`) : `${value}x`;
  if (Array.isArray(value)) return [...value, value[0] ?? 'x'];
  return value === null ? 'x' : { ...value, changedByTest: 'x' };
}
