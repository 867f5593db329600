import { grouped } from '../../domain/grouped.ts';
import type { Row } from './rows.ts';

/** The maximum number of rows. The rows are sorted in memory, and each row needs about 300 bytes. */
const MAX_ROWS = 1_000_000;

export type RowSort = ReturnType<typeof createRowSort>;

export function createRowSort(maxRows = MAX_ROWS) {
  const rows: Row[] = [];
  return {
    /** @throws Error if there are more rows than can be sorted in memory */
    add(row: Row): void {
      if (rows.length === maxRows) {
        const message = `line ${row.line}: expected at most ${maxRows} rows in one file, got more; import the groups in several files, with all rows of a group in one file`;
        throw new Error(message);
      }
      rows.push(row);
    },
    sorted: (): readonly Row[] => rows.sort(byGroupAndMember),
  };
}

/** Returns the sorted rows of each group. The rows of an undo that add members are separate from those that remove. */
export const byGroup = (rows: readonly Row[]) =>
  [...grouped(rows, ({ group, kind }) => `${kind} ${group}`).values()] as [Row, ...Row[]][];

function byGroupAndMember(a: Row, b: Row): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  if (a.kind !== b.kind) return a.kind === 'add' ? -1 : 1;
  if (a.member !== b.member) return a.member < b.member ? -1 : 1;
  return a.line - b.line;
}
