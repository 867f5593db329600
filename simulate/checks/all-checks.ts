import type { Seen } from '../world.ts';
import { createBounded } from './bounded.ts';
import { createDecision } from './decision.ts';
import { createDirectoryCheck } from './directory.ts';
import { createEnd } from './end.ts';
import { createErased } from './erased.ts';
import { createGuard } from './guard.ts';
import { createLeaver } from './leaver.ts';
import { createNothingLost } from './nothing-lost.ts';
import { createObserver } from './observation.ts';
import { createOnRecord } from './on-record.ts';
import { createOneGroup } from './one-group.ts';
import { createOwnership } from './ownership.ts';
import { createPause } from './pause.ts';
import { createTruth } from './truth.ts';
import { createTwoPersons } from './two-persons.ts';
import { createUndone } from './undone.ts';

const CHECKERS = [
  createGuard,
  createOwnership,
  createTruth,
  createBounded,
  createEnd,
  createNothingLost,
  createOnRecord,
  createErased,
  createDirectoryCheck,
  createLeaver,
  createDecision,
  createOneGroup,
  createTwoPersons,
  createPause,
  createUndone,
];

/**
 * Returns a function that runs all checks of the stored state for one simulation run. The checks share no code with the
 * engine. The caller calls the function once per simulated hour. A day after all faults ended, the caller makes the
 * last call, with `isEnd` set. The checks of the answers to operators run separately (one-decision.ts, shown.ts).
 */
export function createChecks(): (seen: Seen, isEnd: boolean) => void {
  const observe = createObserver();
  const checkers = CHECKERS.map((create) => create());
  return (seen, isEnd) => {
    const observation = observe(seen, isEnd);
    for (const checker of checkers) checker(observation);
  };
}
