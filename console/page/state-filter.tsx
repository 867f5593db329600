import { number } from './format.ts';
import { State } from './parts.tsx';
import { filterBy } from './route.ts';

interface StateFilterProps {
  readonly label: string;
  /** The text of the button that shows every state. */
  readonly every: string;
  readonly total: number;
  /** Each state with its number of groups, in the order of the buttons. */
  readonly states: readonly (readonly [state: string, count: number])[];
  readonly chosen: string;
}

/** Buttons that limit a list to one state. */
export function StateFilter({ label, every, total, states, chosen }: StateFilterProps) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {[['', total] as const, ...states].map(([state, count]) => (
        <button
          key={state}
          type="button"
          class="chip"
          aria-pressed={state === chosen}
          onClick={() => filterBy({ state: state === chosen ? '' : state })}
        >
          {state === '' ? every : <State of={state} />} <b>{number(count)}</b>
        </button>
      ))}
    </div>
  );
}
