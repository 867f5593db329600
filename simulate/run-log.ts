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

export interface LogLine {
  readonly atMs: number;
  readonly lane: (typeof LANES)[number][0] | 'check';
  readonly connection?: string;
  readonly group?: string;
  readonly what: string;
  readonly detail?: string;
}

export interface Violation extends Pick<LogLine, 'atMs' | 'connection' | 'group'> {
  readonly check: CheckName;
  /** A short and stable name for the cause of the violation, such as `in_sync_but_different`. */
  readonly cause: string;
  /** One or two sentences that name the expected and the actual state. */
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
  | 'blocked'
  | 'directory'
  | 'leaver'
  | 'decision'
  | 'one_group'
  | 'two_persons'
  | 'pause'
  | 'past'
  | 'undone';

/** Where a feature took effect. Without a connection, on all. See touch.ts. */
export interface Effect {
  readonly connection?: string | undefined;
  /** All connections of this company. */
  readonly company?: string | undefined;
  readonly group?: string | null | undefined;
  /** The person that the feature is about, by the id in the directory or in the HR system. */
  readonly member?: string | undefined;
  readonly role?: string | undefined;
}

/** The log of a simulation run. */
export interface RunLog {
  log(line: Omit<LogLine, 'atMs'>): void;
  /** Counts one effect of a platform fault, another fault, a crash point or an action. */
  fired(name: string, where?: Effect): void;
  violated(violation: Omit<Violation, 'atMs'>): void;
}
