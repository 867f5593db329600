/** Why a person of a hold would go, as far as that tells who had it come about. */
export interface HeldCause {
  /** The directory said so; `unsigned` where it keeps no name with what it says: a user was deleted. */
  readonly kind: 'said' | 'unsigned' | 'not_said';
  /** Who sent the event by hand; undefined of the directory's own. */
  readonly by?: string | undefined;
}

/** What a person did to the connection before the hold was made. */
export interface EarlierAction {
  readonly action: string;
  readonly by: string;
}

const SENDS: ReadonlySet<string> = new Set(['import', 'events_send', 'dlq_replay', 'dlq_edit']);
const SETS: ReadonlySet<string> = new Set(['connections_set', 'connect', 'reconnect', 'rebind']);

/**
 * The people who had a hold come about, who may not be the one that approves it (four eyes). What the directory itself
 * says needs one approver, whoever that is. Where no event says why somebody would go, settings do; where an event keeps
 * no name, whoever sent any is taken for the one.
 */
export function authorsOf(
  causes: readonly HeldCause[],
  actions: readonly EarlierAction[],
): ReadonlySet<string> {
  const kinds = new Set(causes.map(({ kind }) => kind));
  const suspects = actions.filter(
    ({ action }) =>
      (kinds.has('unsigned') && SENDS.has(action)) || (kinds.has('not_said') && SETS.has(action)),
  );
  return new Set([...causes.flatMap(({ by }) => by ?? []), ...suspects.map(({ by }) => by)]);
}
