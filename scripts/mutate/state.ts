import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the state folder, and the test file that runs last. A run that was ended continues from them. */
export const FILES = {
  survey: 'survey.json',
  results: 'results.jsonl',
  running: 'running.json',
  lastTest: 'last.test.ts',
} as const;

/** One change of the code. Its id contains a digest of the files that it changes. */
export interface Change {
  readonly id: string;
  readonly line: string;
  readonly modules: readonly { readonly file: string; readonly path: string }[];
  /** A test that reaches none of these places cannot notice the change. */
  readonly places: readonly string[];
}

/** What one run of all tests without a change recorded. */
export interface Survey {
  readonly places: string[];
  /** The tests by file and name. A test's id contains a digest of its file. */
  readonly tests: Record<
    string,
    {
      readonly id: string;
      /** The processor time in milliseconds. */
      readonly ms: number;
      readonly steps: number;
      readonly places: readonly number[];
    }
  >;
}

/** Whether each test that ran with a change noticed it, by the id of the test. */
export type Results = Map<string, boolean>;

/** Returns the results by the id of the change. */
export function resultsOf(folder: string): Map<string, Results> {
  const path = join(folder, FILES.results);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  const results = new Map<string, Results>();
  for (const line of lines) {
    // A process that was killed may have written half of its last line.
    if (!line.startsWith('{"change"') || !line.endsWith('}')) continue;
    const { change, test, noticed } = JSON.parse(line) as { change: string; test: string; noticed: boolean };
    results.set(change, (results.get(change) ?? new Map()).set(test, noticed));
  }
  return results;
}
