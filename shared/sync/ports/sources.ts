import type { Source } from '../../domain/source.ts';

export interface Receipt {
  readonly source: Source;
  readonly nowMs: number;
  /** The interval of the schedule, if groupsync itself schedules the source. */
  readonly everyMinutes?: number | undefined;
}
