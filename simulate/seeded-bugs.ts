import type { WrapPorts } from './lambdas.ts';
import { READER_BUGS } from './reader/bugs.ts';
import { FIXED_BUGS } from './seeded-bugs/fixed.ts';
import { INVENTED_BUGS } from './seeded-bugs/invented.ts';
import { MISSED_BUGS } from './seeded-bugs/missed.ts';
import found from './seeded-bugs-found.json' with { type: 'json' };

/** A bug that the simulation must find. It replaces methods of a port. Some of these bugs existed. */
export interface SeededBug {
  readonly name: string;
  readonly what: string;
  readonly wrapPorts: WrapPorts;
  /** A regular expression. A run can show the bug only if the JSON of the run matches it. */
  readonly needs: string;
  /** True if the bug appears only in a run that has a connection with a reader. */
  readonly isOfReader: boolean;
}

export const SEEDED_BUGS: readonly SeededBug[] = Object.entries({
  ...FIXED_BUGS,
  ...INVENTED_BUGS,
  ...MISSED_BUGS,
  ...READER_BUGS,
}).map(([name, [what, wrapPorts, needs = '']]) => ({
  name,
  what,
  wrapPorts,
  needs,
  isOfReader: name in READER_BUGS,
}));

/** For each bug, the first run that found it, and the runs of that search. The next search begins with it. */
export const FOUND = found as unknown as Readonly<Record<string, readonly [seed: number, runs: number]>>;

export const seededBugNamed = (name: string | undefined): WrapPorts | undefined =>
  SEEDED_BUGS.find((one) => one.name === name)?.wrapPorts;
