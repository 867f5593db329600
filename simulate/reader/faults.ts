type Span = readonly [leastMinutes: number, mostMinutes: number];

/**
 * The values for drawing a fault: its weight, its duration, the percentage of calls that it affects, and the number of
 * groups that it affects. An undefined percentage means all calls, and an undefined number means all groups.
 */
export type DirectoryFaultRange = readonly [
  weight: number,
  minutes: Span,
  percent?: Span | undefined,
  groups?: readonly [least: number, most: number],
];

const MINUTES: Span = [5, 90];
const HOURS: Span = [60, 10 * 60];

/** Faults of a directory that a reader reads. docs/fault-model.md gives the reason for each fault. */
export const DIRECTORY_FAULTS = {
  quota_403: [2, MINUTES, [20, 100]],
  quota_429: [2, MINUTES, [20, 100]],
  answers_503: [2, MINUTES, [10, 100]],
  loses_answers: [2, MINUTES, [5, 50]],
  breaks_off: [2, MINUTES, [5, 60]],
  answers_html: [1, MINUTES, [5, 60]],
  answers_empty_json: [2, MINUTES, [5, 100]],
  ends_early: [4, HOURS, [10, 100]],
  // This fault must be shorter than ten minutes. After two reads ten minutes apart, the reader correctly accepts that
  // the group is empty.
  shows_no_members: [3, [2, 9]],
  repeats_page_token: [1, MINUTES, [10, 100]],
  page_tokens_end: [1, MINUTES, [10, 60]],
  // This fault must be shorter than a day. If the directory does not find a group for a day, the reader correctly
  // accepts the deletion.
  hides_group: [4, [5, 20 * 60], undefined, [1, 1]],
  lists_few: [3, HOURS, undefined, [3, 6]],
  counts_too_many: [2, HOURS, undefined, [1, 3]],
  denies_401: [2, MINUTES],
  denies_403: [2, HOURS],
  token_ends: [2, MINUTES, [5, 30]],
  log_silent: [3, HOURS],
  // Entra ID
  delta_ends: [3, MINUTES, [10, 100]],
  hides_membership: [3, HOURS],
  hides_users: [2, HOURS],
  // Okta
  drops_links: [2, MINUTES, [5, 60]],
  limits_role: [3, HOURS, undefined, [1, 4]],
} satisfies Readonly<Record<string, DirectoryFaultRange>>;

export type DirectoryFault = keyof typeof DIRECTORY_FAULTS;

/** Faults of single vendors (`ownFaults`). */
const OF_ONE_VENDOR: ReadonlySet<DirectoryFault> = new Set<DirectoryFault>([
  'quota_403',
  'delta_ends',
  'hides_membership',
  'hides_users',
  'drops_links',
  'limits_role',
]);

export const faultsOf = (ownFaults: readonly DirectoryFault[]): readonly DirectoryFault[] =>
  (Object.keys(DIRECTORY_FAULTS) as DirectoryFault[]).filter(
    (fault) => !OF_ONE_VENDOR.has(fault) || ownFaults.includes(fault),
  );

export interface DirectoryFaultAction {
  readonly kind: 'directoryFault';
  readonly directoryFault: DirectoryFault;
  readonly forMs: number;
  /** The affected groups; undefined for all groups. For `limits_role`, the groups that stay visible. */
  readonly about?: readonly string[];
  /** The probability that the fault affects a call, from 0 to 1; undefined for every call. */
  readonly share?: number;
}
