/** The cause of a held removal, and the operator who caused the hold, if known. */
export interface HeldCause {
  /**
   * `unsigned_event`: the event does not record its sender (the deletion of a user). `no_event`: no event explains the
   * removal.
   */
  readonly kind: 'event' | 'unsigned_event' | 'no_event';
  /** The operator who sent the event; undefined for an event of the directory. */
  readonly by?: string | undefined;
}

/** An operator's action on the connection before the hold was created. */
export interface EarlierAction {
  readonly action: string;
  readonly by: string;
}

const SENDS: ReadonlySet<string> = new Set(['import', 'events_send', 'dlq_replay', 'dlq_edit']);
const SETS: ReadonlySet<string> = new Set(['connections_set', 'connect', 'reconnect', 'rebind']);

/**
 * Returns the operators who caused a hold. None of them may approve the hold (four eyes). Any operator may approve a
 * hold that a directory event caused. If no event explains a removal, all operators who changed settings count as its
 * cause. If an event does not record its sender, all operators who sent events count.
 */
export function authorsOf(
  causes: readonly HeldCause[],
  actions: readonly EarlierAction[],
): ReadonlySet<string> {
  const kinds = new Set(causes.map(({ kind }) => kind));
  const authors = actions.filter(
    ({ action }) =>
      (kinds.has('unsigned_event') && SENDS.has(action)) || (kinds.has('no_event') && SETS.has(action)),
  );
  return new Set([...causes.flatMap(({ by }) => by ?? []), ...authors.map(({ by }) => by)]);
}
