import type { ComponentChildren } from 'preact';
import { number } from './format.ts';
import { Chips } from './parts.tsx';
import { filterBy, given } from './route.ts';

interface CountFilterProps {
  /** The name of the filter in the address. */
  readonly name: string;
  readonly label: string;
  readonly every: string;
  readonly total: number;
  /** Each value with the number of its rows, in the order of the buttons. */
  readonly counts: readonly (readonly [value: string, count: number])[];
  readonly show: (value: string) => ComponentChildren;
}

/** Limits a list to one value, such as the groups in one state. */
export const CountFilter = ({ name, label, every, total, counts, show }: CountFilterProps) => (
  <Chips
    label={label}
    current={given(name)}
    of={[['', total] as const, ...counts].map(([value, count]) => [
      value,
      <>
        {value === '' ? every : show(value)} <b>{number(count)}</b>
      </>,
    ])}
    choose={(value) => filterBy({ [name]: value === given(name) ? '' : value })}
  />
);
