import * as z from 'zod';

const Match = z.strictObject({
  method: z.string().toUpperCase().optional(),
  path: z
    .string()
    .optional()
    .describe('Glob over the path: `*` matches any characters, `?` matches one character.'),
});

/** The body of `POST /_simulator/faults`: the requests that fail, and the form of the failure. */
export const Fault = z.strictObject({
  match: Match.default({}),
  times: z.int().min(1).default(1),
  status: z.int().min(100).max(599).optional(),
  retryAfter: z.union([z.string(), z.number()]).optional(),
  delayMs: z.number().min(0).max(600_000).optional(),
  drop: z.enum(['before', 'after']).optional(),
  body: z.unknown().optional(),
});
export type Fault = z.infer<typeof Fault>;

/** The faults that wait for a matching request, in order. */
export interface Faults {
  /** Appends the faults. An empty list removes all faults. */
  add(faults: readonly Fault[]): void;
  /** Returns the first matching fault and counts one use of it; undefined if no fault matches. */
  take(method: string, path: string): Fault | undefined;
  list(): readonly Fault[];
}

export function createFaults(): Faults {
  let waiting: { fault: Fault; path: RegExp | undefined; left: number }[] = [];
  return {
    add(faults) {
      if (faults.length === 0) waiting = [];
      for (const fault of faults) {
        const { path } = fault.match;
        waiting.push({ fault, path: path === undefined ? undefined : globPattern(path), left: fault.times });
      }
    },
    take(method, path) {
      if (waiting.length === 0) return undefined;
      const found = waiting.find(
        (one) =>
          (one.fault.match.method ?? method) === method && (one.path === undefined || one.path.test(path)),
      );
      if (found === undefined) return undefined;
      found.left -= 1;
      if (found.left === 0) waiting = waiting.filter((one) => one !== found);
      return found.fault;
    },
    list: () => waiting.map(({ fault, left }) => ({ ...fault, times: left })),
  };
}

function globPattern(glob: string): RegExp {
  const source = glob.replaceAll(/\*+|[^*]/g, (part) => {
    if (part.startsWith('*')) return '.*';
    return part === '?' ? '.' : part.replaceAll(/[\\^$.+()[\]{}|]/g, '\\$&');
  });
  return new RegExp(`^${source}$`, 's');
}
