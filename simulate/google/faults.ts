type Span = readonly [leastMinutes: number, mostMinutes: number];

/** Percentage of affected calls; without it the fault affects all. `groups`: the number of affected groups. */
export type DirectoryFaultRange = readonly [
  weight: number,
  minutes: Span,
  percent?: Span | undefined,
  groups?: readonly [least: number, most: number],
];

const MINUTES: Span = [5, 90];
const HOURS: Span = [60, 10 * 60];

/** Faults of a directory that is read, with their weight and duration. docs/fault-model.md has the reason of each. */
export const DIRECTORY_FAULTS = {
  quota_403: [2, MINUTES, [20, 100]],
  quota_429: [2, MINUTES, [20, 100]],
  answers_503: [2, MINUTES, [10, 100]],
  loses_answers: [2, MINUTES, [5, 50]],
  breaks_off: [2, MINUTES, [5, 60]],
  answers_html: [1, MINUTES, [5, 60]],
  answers_empty_json: [2, MINUTES, [5, 100]],
  ends_early: [4, HOURS, [10, 100]],
  // Two reads ten minutes apart that find no member are believed.
  shows_no_members: [3, [2, 9]],
  repeats_page_token: [1, MINUTES, [10, 100]],
  page_tokens_end: [1, MINUTES, [10, 60]],
  // A group that is not found for a day is believed to be deleted.
  hides_group: [4, [5, 20 * 60], undefined, [1, 1]],
  lists_few: [3, HOURS, undefined, [3, 6]],
  counts_too_many: [2, HOURS, undefined, [1, 3]],
  denies_401: [2, MINUTES],
  denies_403: [2, HOURS],
  token_ends: [2, MINUTES, [5, 30]],
  log_silent: [3, HOURS],
} satisfies Readonly<Record<string, DirectoryFaultRange>>;

export type DirectoryFault = keyof typeof DIRECTORY_FAULTS;

export interface DirectoryFaultAction {
  readonly kind: 'directoryFault';
  readonly directoryFault: DirectoryFault;
  readonly forMs: number;
  /** Affected groups, if the fault has any. */
  readonly about?: readonly string[];
  /** Probability that it affects a call, from 0 to 1. */
  readonly share?: number;
}
