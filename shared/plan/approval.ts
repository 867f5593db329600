import { mayRemoveBy, mayRemoveBySetting } from '../contract/operator-actions.ts';
import type { Source } from '../domain/source.ts';
import { MAX_AHEAD_MS } from '../domain/stamp.ts';

/** The cause of a held removal: an event, or `no_event` if no event explains the removal or its sender is unknown. */
export type HeldCause =
  | { readonly kind: 'no_event' }
  | {
      readonly kind: 'event';
      readonly atMs: number;
      readonly source: Source;
      /** The operator who sent the event; undefined for an event of the directory. */
      readonly by?: string | undefined;
      /** The prefix of the SCIM token by which the event arrived. */
      readonly token?: string | undefined;
    };

/** A person's action before the last removals joined the hold. */
export interface EarlierAction {
  readonly action: string;
  readonly by: string;
  readonly atMs: number;
  /** For a change of settings: the changed keys. */
  readonly keys: readonly string[];
}

/**
 * Returns the persons who may have caused a hold, without the creators of SCIM tokens. With four eyes, none of them may
 * approve it. These actions count as possible causes (`contract/operator-actions.ts` has the kinds of actions):
 *
 *     cause of the removal | event                      | source                          | plan
 *     ---------------------|----------------------------|---------------------------------|----------------------
 *     no event             | yes                        | yes                             | yes
 *     event                | no: only its sender counts | of the reader, or after event   | after the event
 *
 * An action after the event counts, because the event did not remove the user before. Example: the directory removed a
 * user a year ago, and an operator now adopts a platform group that has the user. An event may arrive up to
 * `MAX_AHEAD_MS` before its time, so an action within this time before the event counts as an action after the event.
 */
export function authorsOf(causes: readonly HeldCause[], actions: readonly EarlierAction[]) {
  // Most removals of a hold have the same cause.
  const distinct = [...new Map(causes.map((cause) => [JSON.stringify(cause), cause])).values()];
  const senders = distinct.flatMap((cause) => (cause.kind === 'no_event' ? [] : (cause.by ?? [])));
  const authors = actions.filter((action) => distinct.some((cause) => mayHaveCaused(action, cause)));
  return new Set([...senders, ...authors.map(({ by }) => by)]);
}

function mayHaveCaused({ action, atMs, keys }: EarlierAction, cause: HeldCause): boolean {
  const kind = mayRemoveBy(action);
  const kinds = kind === 'setting' ? keys.map(mayRemoveBySetting) : [kind];
  return kinds.some((how) => {
    if (how === 'no') return false;
    if (cause.kind === 'no_event') return true;
    if (how === 'event') return false;
    return (how === 'source' && cause.source === 'directory') || atMs > cause.atMs - MAX_AHEAD_MS;
  });
}
