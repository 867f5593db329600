import type { Row } from './rows.ts';

/** Sorts more than fits in memory: rows go in as they come and come out by group, member and line. */
export interface Sorter {
  add(row: Row): Promise<void>;
  sorted(): AsyncIterable<Row>;
  /** Removes what was put aside on disk. */
  discard(): Promise<void>;
}
