/** What people are told of without asking. */
export const SUBJECTS = ['hold', 'gate', 'failed', 'dead_letters', 'drift', 'credential', 'token'] as const;
export type Subject = (typeof SUBJECTS)[number];

/** Something that is so at this moment. */
export interface Finding {
  readonly subject: Subject;
  readonly count: number;
  /** undefined where only the looking dates it. */
  readonly sinceMs?: number | undefined;
  /** Of some of the groups; never of people. */
  readonly names?: readonly string[];
}

export interface Episode extends Finding {
  readonly sinceMs: number;
  /** Of the latest attempt to tell something of it. */
  readonly triedMs?: number;
  /** The outcome of the latest attempt is not recorded: it may have been sent. */
  readonly isUnrecorded?: true;
  /** The count that was told. */
  readonly told?: number;
  readonly endedMs?: number;
  /** Its end was told too. */
  readonly over?: boolean;
}

/** Lines; the first is the title. */
export type Notice = readonly [title: string, ...rest: string[]];
