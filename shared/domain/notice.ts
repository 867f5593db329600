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
  /** The time since which the state exists; undefined if only the time of the check is known. */
  readonly sinceMs?: number | undefined;
  /** Names of some of the groups. Names of people are never included. */
  readonly names?: readonly string[];
  /** The ids of the groups in `names`, for links. */
  readonly groups?: readonly string[];
  /** Which person to contact, by the id on the platform. */
  readonly contact?: string;
}

export interface Episode extends Finding {
  readonly sinceMs: number;
  /** The time of the latest attempt to send a notice about the episode. */
  readonly triedMs?: number;
  /** Whether the outcome of the latest attempt is not recorded. The notice may have been sent. */
  readonly isUnrecorded?: true;
  /** The count in the latest notice. */
  readonly notifiedCount?: number;
  readonly endedMs?: number;
  /** Whether the end of the episode was reported too. */
  readonly over?: boolean;
}

/** The lines of a notice. The first line is the title. */
export type Notice = readonly [title: string, ...rest: string[]];
