import type { SettledState } from '../ports/groups.ts';
import type { Guarded } from './guard-removals.ts';
import type { Wanted } from './wanted.ts';

const SETTLED: Readonly<Record<Wanted['state'], SettledState>> = {
  present: 'in_sync',
  absent: 'deleted',
  unnamed: 'unnamed',
};

/** What a group shows once its plan is carried out, be that by a write or because there was nothing to write. */
export const settledState = (wanted: Wanted, { held }: Guarded): SettledState =>
  held.size > 0 ? 'held' : SETTLED[wanted.state];
