import { number } from './format.ts';
import { Chips, State } from './parts.tsx';
import { filterBy } from './route.ts';

interface StateFilterProps {
  readonly label: string;
  readonly every: string;
  readonly total: number;
  /** Each state with its number of groups, in the order of the buttons. */
  readonly states: readonly (readonly [state: string, count: number])[];
  readonly chosen: string;
}

export function StateFilter({ label, every, total, states, chosen }: StateFilterProps) {
  return (
    <Chips
      label={label}
      current={chosen}
      of={[['', total] as const, ...states].map(([state, count]) => [
        state,
        <>
          {state === '' ? every : <State of={state} />} <b>{number(count)}</b>
        </>,
      ])}
      choose={(state) => filterBy({ state: state === chosen ? '' : state })}
    />
  );
}
