import type { GroupState } from '../domain/group-state.ts';
import type { Hold } from '../domain/hold.ts';
import type { IntentId } from '../domain/ids.ts';
import { all, type Condition, equal, exists, missing } from './table.ts';

/*
 * The life of a write, as conditions on the group item:
 *
 *     openIntent   no intent, view pointer and dirty as read     intent := ours
 *     flip         intent is ours (and rev as it was read)       view, version, intent gone (dirty gone)
 *     dropIntent   intent is ours                                intent gone
 *     absorb       no intent, view pointer and dirty as read     view, version
 *     settle       no intent, rev and view as they were read     dirty gone
 *
 *     fail         intent and rev as they were read              dirty gone
 *
 * A worker that was overtaken fails its condition and changes nothing. That dirty is compared too keeps one from linking
 * what a later one has settled: nobody would look at the group again. From openIntent to flip dirty stays.
 */
export const intentIs = (id: IntentId): Condition => equal('intentId', id);
export const viewIsAs = ({ view }: GroupState): Condition =>
  view === undefined ? missing('viewId') : equal('viewId', view.id);
export const untouchedSince = (seen: GroupState): Condition => all(missing('intentId'), viewIsAs(seen));
export const unsettledSince = (seen: GroupState): Condition =>
  seen.dirtySinceMs === undefined ? untouchedSince(seen) : all(untouchedSince(seen), exists('dirtySince'));
export const intentIsAs = ({ intent }: GroupState): Condition =>
  intent === undefined ? missing('intentId') : intentIs(intent.id);
/** A suspicion that came after the look is not answered by it. */
export const suspectIsAs = ({ suspect }: GroupState): Condition =>
  suspect === undefined ? missing('suspectAt') : equal('suspectAt', suspect.atMs);
export const revIsAs = ({ rev }: GroupState): Condition => (rev === 0 ? missing('rev') : equal('rev', rev));
/** The hold as it was read, with the same word on it. */
export const decisionIs = ({ digest, decision }: Hold): Condition =>
  all(
    equal('hold.digest', digest),
    equal('hold.decision.kind', decision.kind),
    decision.kind === 'waiting' ? missing('hold.decision.atMs') : equal('hold.decision.atMs', decision.atMs),
  );
