/** The cause of a held removal, and the operator who caused the hold, if known. */
export interface HeldCause {
  /**
   * `unsigned_event`: an event caused the removal, but its sender is not recorded. An example is the deletion of a
   * user. `no_event`: no event explains the removal.
   */
  readonly kind: 'event' | 'unsigned_event' | 'no_event';
  /** The operator who sent the event; undefined for an event of the directory. */
  readonly by?: string | undefined;
}

/** An operator's action on the connection before the last removals joined the hold. */
export interface EarlierAction {
  readonly action: string;
  readonly by: string;
}

const SENDS: ReadonlySet<string> = new Set(['import', 'events_send', 'dlq_replay', 'dlq_edit']);
const SETS: ReadonlySet<string> = new Set(['connections_set', 'connect', 'reconnect', 'rebind']);

/**
 * Returns the operators who may have caused a hold. With four eyes, none of them may approve it. If events of the
 * directory caused all removals, the result is empty. If no event explains a removal, all operators who changed
 * settings or bound a member to another person may have caused it. If the sender of an event is not recorded, all
 * operators who sent events may have caused the removal.
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
