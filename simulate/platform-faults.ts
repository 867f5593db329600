type Span = readonly [leastMinutes: number, mostMinutes: number];
/**
 * How a fault is drawn: its weight, its duration, and the percentage of calls, users or groups that it affects. Without
 * a percentage, it affects all of them. A fault about `users` affects in 60 % of cases one to three drawn users
 * instead.
 */
export type PlatformFaultRange = readonly [
  weight: number,
  minutes: Span,
  percent?: Span,
  about?: 'users' | 'retryAfter',
];

const HOURS: Span = [30, 8 * 60];
export const DAYS: Span = [20 * 60, 3 * 24 * 60];

/** All platform faults, with their weight and duration. */
export const PLATFORM_FAULTS = {
  drops_users: [3, DAYS, [3, 15], 'users'],
  keeps_users: [3, DAYS, [3, 25], 'users'],
  refuses_user_422: [3, DAYS, [1, 4], 'users'],
  refuses_name: [1, DAYS, [5, 40]],
  refuses_spoke_id: [1, DAYS, [5, 40]],
  answers_lag: [2, HOURS, [20, 100]],
  answers_lack_users: [2, HOURS, [5, 40], 'users'],
  answers_404: [2, HOURS, [2, 20]],
  deletes_ignored: [2, HOURS, [30, 100]],
  answers_other_group: [1, HOURS, [5, 40]],
  answers_html: [1, HOURS, [5, 60]],
  answers_half: [1, HOURS, [5, 60]],
  list_denies: [2, [10, 120], [5, 40]],
  list_cut: [2, HOURS, [20, 100]],
  get_denies: [2, [10, 120], [5, 40]],
  list_shows_odd_group: [1, DAYS],
  list_times_out: [1, HOURS],
  writes_503: [2, HOURS, [40, 100]],
  writes_403: [2, HOURS, [40, 100]],
  writes_302: [1, [20, 60]],
  everything_503: [1, HOURS, [30, 100]],
  throttles: [2, HOURS, [10, 60], 'retryAfter'],
  slow: [1, HOURS, [10, 60]],
  loses_answers: [2, HOURS, [10, 50]],
  late_writes: [2, HOURS, [10, 50]],
  wrong_route: [1, [20, 90]],
  token_revoked: [1, HOURS],
  token_expires: [1, HOURS],
  feed_twice: [1, DAYS, [10, 50]],
  feed_missing: [1, DAYS, [10, 50]],
  feed_new_kind: [1, DAYS, [10, 50]],
  feed_malformed: [1, DAYS, [10, 50]],
  feed_forgets: [1, DAYS],
  refuses_connection: [1, [10, 180], [30, 100]],
} as const satisfies Readonly<Record<string, PlatformFaultRange>>;
export type PlatformFault = keyof typeof PLATFORM_FAULTS;
