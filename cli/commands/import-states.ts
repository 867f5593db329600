import { InvalidArgumentError } from 'commander';
import type { StateRule } from '../../shared/operate/import/account-state.ts';
import type { UnknownState } from '../../shared/operate/import/read-file.ts';
import { UsageError } from '../io.ts';
import { plural, shellWord, visible } from '../output/words.ts';

/** With more unknown values, the column is probably not about accounts, and one option decides about all values. */
const MAX_SHOWN = 10;

export function stateRule(text: string, before: readonly StateRule[] = []): readonly StateRule[] {
  const [, of, state] = /^(.+:.*)=(active|inactive)$/i.exec(text) ?? [];
  if (of === undefined)
    throw new InvalidArgumentError('expected HEADING:VALUE=active or HEADING:VALUE=inactive');
  return [...before, { text: of, state: state?.toLowerCase() === 'active' ? 'active' : 'inactive' }];
}

/** @throws UsageError with the options that decide about these states of accounts */
export function refuseStates(unknown: readonly UnknownState[]): never {
  throw new UsageError(explained(unknown).join('\n'));
}

const placed = ({ line, column, value, rows }: UnknownState): string =>
  `line ${line}: column "${visible(column)}" has "${visible(value)}" (${plural(rows, 'row')})`;

function explained(unknown: readonly UnknownState[]): readonly string[] {
  const rest = unknown.length - MAX_SHOWN;
  const columns = [...new Set(unknown.map(({ column }) => column))];
  const option = (column: string, value: string) =>
    `--column-state ${shellWord(`${column}:${value}=active`)}`;
  return [
    'expected states of accounts that import knows, such as ACTIVE or SUSPENDED, got:',
    ...unknown.slice(0, MAX_SHOWN).map((one) => `  ${placed(one)}; ${option(one.column, one.value)}`),
    ...(rest > 0 ? [`  … and ${plural(rest, 'more value')}`] : []),
    'the options import these people; with =inactive instead of =active, import leaves the people out',
    `if a column is not about accounts: ${columns.map((column) => option(column, '*')).join(' ')}`,
  ];
}
