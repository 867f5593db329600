import Table from 'cli-table3';
import type { GroupReport } from './report.ts';

/** Widths between the borders. With borders and padding, a row has 79 columns. */
const COLUMNS = [
  { title: 'group', width: 28 },
  { title: 'wanted', width: 8 },
  { title: 'applied', width: 9 },
  { title: 'pending', width: 9 },
  { title: 'state', width: 9 },
  { title: 'version', width: 9 },
] as const;
const CHARACTERS = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' };

/** Formats the groups, sorted by name, as a table of at most 80 columns. Long names end in an ellipsis. */
export function groupsTable(groups: readonly GroupReport[]): string {
  const table = new Table({
    head: COLUMNS.map(({ title }) => title),
    colWidths: COLUMNS.map(({ width }) => width),
    colAligns: ['left', 'right', 'right', 'right', 'left', 'left'],
    chars: CHARACTERS,
    style: { head: [], border: [] },
  });
  const sorted = [...groups].sort((a, b) => titleOf(a).localeCompare(titleOf(b)));
  for (const group of sorted) {
    table.push([
      titleOf(group),
      group.wanted,
      group.applied,
      group.pending.length,
      group.state,
      group.version ?? '–',
    ]);
  }
  return table.toString();
}

const titleOf = ({ name, id }: GroupReport) => name ?? `(${id})`;

export function groupsSummary(groups: readonly GroupReport[]): string {
  const states = new Map<string, number>();
  for (const { state } of groups) states.set(state, (states.get(state) ?? 0) + 1);
  const pending = groups.reduce((sum, group) => sum + group.pending.length, 0);
  const counts = [...states].sort().map(([state, count]) => `${count} ${state}`);
  return `${groups.length} groups: ${counts.join(', ') || 'none'}; ${pending} members pending`;
}
