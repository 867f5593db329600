/** The subjects of notices to operators. */
export const SUBJECTS = [
  'hold',
  'gate',
  'failed',
  'dead_letters',
  'drift',
  'credential',
  'token',
  'source',
  'reader',
  'reader_stopped',
  'reader_short',
] as const;
export type Subject = (typeof SUBJECTS)[number];

/** A state that was found now. */
export interface Finding {
  readonly subject: Subject;
  readonly count: number;
  /** undefined if only the time of the check is known. */
  readonly sinceMs?: number | undefined;
  /** Names of some of the groups; never names of people. */
  readonly names?: readonly string[];
}

export interface Episode extends Finding {
  readonly sinceMs: number;
  /** Time of the latest attempt to send a notice about it. */
  readonly triedMs?: number;
  /** The outcome of the latest attempt is not recorded: it may have been sent. */
  readonly isUnrecorded?: true;
  /** The count that was reported last. */
  readonly notifiedCount?: number;
  readonly endedMs?: number;
  /** Its end was reported too. */
  readonly over?: boolean;
}

/** Lines; the first is the title. */
export type Notice = readonly [title: string, ...rest: string[]];
