/** Subjects of the whole stage: one notice for all connections, which names the connection with the oldest problem. */
export const STAGE_SUBJECTS = ['gate', 'source', 'access', 'waiting'] as const;

export const SUBJECTS = [
  ...STAGE_SUBJECTS,
  'dead_letters',
  'hold',
  'name_clash',
  'missing',
  'drift',
  'feed',
  'credential',
  'token',
  'reader_short',
  'reader_flips',
] as const;
export type Subject = (typeof SUBJECTS)[number];

/** A problem that the current check found, such as open holds. */
export interface Finding {
  readonly subject: Subject;
  readonly count: number;
  /** The time at which the problem began; undefined if only the time of the check is known. */
  readonly sinceMs?: number | undefined;
  /** The names of some of the affected groups. Names of people are not allowed here. */
  readonly names?: readonly string[];
  /** The ids of the groups in `names`, for links. */
  readonly groups?: readonly string[];
  /** The platform id of the person to contact. */
  readonly contact?: string;
}

export interface Episode extends Finding {
  readonly sinceMs: number;
  /** The time of the latest attempt to send a notice about the episode. */
  readonly triedMs?: number;
  /** Set if the outcome of the latest attempt is unknown, so the notice may have been sent. */
  readonly isUnrecorded?: true;
  readonly notifiedCount?: number;
  readonly endedMs?: number;
  /** Whether the problem has ended and no further notice must be sent. */
  readonly over?: boolean;
}

export type Notice = readonly [title: string, ...rest: string[]];
