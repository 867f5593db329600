/** The columns of the trace page, one per actor, with their headings. */
export const LANES = [
  ['directory', 'Directory'],
  ['company', 'HR system'],
  ['ingest', 'ingest'],
  ['apply', 'apply'],
  ['reconcile', 'reconcile, people'],
  ['platform', 'Platform'],
  ['client', 'Other clients'],
  ['operator', 'Operator'],
  ['aws', 'AWS'],
] as const;

/** One line of the log. */
export interface LogLine {
  readonly atMs: number;
  readonly lane: (typeof LANES)[number][0] | 'check';
  readonly connection?: string;
  /** The directory group of the line. */
  readonly group?: string;
  readonly what: string;
  readonly detail?: string;
}

/** A violation of an invariant. */
export interface Violation extends Pick<LogLine, 'atMs' | 'connection' | 'group'> {
  readonly check: CheckName;
  /** A short and stable name of the violation, used in known.json: `in_sync_but_different`, `removals_over_limit` … */
  readonly cause: string;
  /** One sentence that names the expected and the actual state. */
  readonly sentence: string;
}

export type CheckName =
  | 'end'
  | 'truth'
  | 'one_decision'
  | 'guard'
  | 'ownership'
  | 'nothing_lost'
  | 'bounded'
  | 'on_record'
  | 'shown'
  | 'erased'
  | 'directory';

/** The log of a simulation run. Lines are only created if a listener is set. */
export interface RunLog {
  log(line: Omit<LogLine, 'atMs'>): void;
  /** Counts that a platform fault, another fault, a crash point or an action took effect. */
  fired(name: string): void;
  violated(violation: Omit<Violation, 'atMs'>): void;
}
