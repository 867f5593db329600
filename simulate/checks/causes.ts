import { isPerson } from '../persons.ts';
import { byOrder, type Received } from '../reading.ts';
import { type Observation, type Owner, withMoved } from './observation.ts';
import { type StoredAudit, storedMember } from './stored.ts';

/** A platform write together with its audit entry. */
interface Recorded {
  readonly write: { readonly atMs: number };
  readonly owner: Owner;
  readonly entry: StoredAudit;
}

/** SQS may deliver a message twice, the second time up to this long after the write that it caused. */
const ARRIVES_WITHIN_MS = 60_000;

/**
 * Checks the cause and the actor of an audit entry. Returns a description of the error; undefined if both are correct.
 * The cause must be an event about the group or one of its members, an approval, a drift record, or groupsync itself.
 * If the cause is an event, the actor must be the actor of that event.
 */
export function falsehoodIn(observation: Observation, recorded: Recorded): string | undefined {
  const { cause, actor } = recorded.entry;
  const [, id, source] = /^event (.*) of (.*?)$/s.exec(cause) ?? [];
  if (id !== undefined) return falseEvent(observation, recorded, { id, source: source ?? '' });
  if (cause.startsWith('approved by ')) return falseApproval(observation, recorded);
  if (cause.startsWith('drift '))
    return falseDrift(observation, recorded, cause.slice('drift '.length).split(', '));
  return actor.kind === 'groupsync'
    ? undefined
    : 'only events and approvals have an actor other than groupsync';
}

function falseEvent(
  observation: Observation,
  { write, owner, entry }: Recorded,
  { id, source }: Pick<Received, 'id' | 'source'>,
): string | undefined {
  const { connection, group } = owner;
  // A fault may have hidden the answer to this SCIM request. The simulated directory then does not know whether the
  // request succeeded.
  if (
    source === 'scim' &&
    observation.connections.find(({ name }) => name === connection)?.hasUncertainRequest(group)
  )
    return undefined;
  if (isReplayed(observation, id, write.atMs)) return undefined;
  // A takeover makes the reader the owner of the group with a stamp of its own.
  if (id.startsWith('takeover-') && isTakenOver(observation, owner)) return undefined;
  const all = observation.seen.directory
    .received(connection)
    .filter((one) => one.source === source && one.id === (source === 'scim' ? id.replace(/\.\d+$/, '') : id));
  if (all.length === 0) return 'the directory sent no such event';
  const isAbout = ({ directoryEvent }: Received) =>
    directoryEvent.group === undefined
      ? directoryEvent.members?.some(
          (one) => storedMember(observation.seen, connection, group, one.id) !== undefined,
        )
      : directoryEvent.group === group;
  const about = all.filter(isAbout);
  if (about.length === 0) return 'the event is about another group, or about users who are not in this group';
  if (about.every(({ arrivedAtMs }) => arrivedAtMs > write.atMs + ARRIVES_WITHIN_MS))
    return 'the event arrived after the write';
  const { actor } = entry;
  // An operator who edits or replays a dead-lettered message becomes the actor of its event.
  if (actor.kind === 'operator' || isPerson(actor.id)) return undefined;
  // A group stores only its latest actor. So of an earlier event, only the source may be known. The same is true of an
  // event about a user.
  const isReplaced = observation.seen.directory.received(connection).some((other) => {
    const { by, group: of } = other.directoryEvent;
    const isKnown = (by ?? other.sentBy) !== undefined && of === group;
    const hasArrived = other.arrivedAtMs <= write.atMs + ARRIVES_WITHIN_MS;
    return isKnown && hasArrived && about.every((one) => byOrder(other, one) > 0);
  });
  const isUnknown = (one: Received) => isReplaced || one.directoryEvent.group === undefined;
  const expected = about.flatMap((one) => [actorOf(one), ...(isUnknown(one) ? [`directory ${source}`] : [])]);
  const isTrue = expected.some((one) => one === undefined || one === `${actor.kind} ${actor.id}`);
  return isTrue ? undefined : `the directory names ${expected.join(' or ')}`;
}

const isTakenOver = ({ seen }: Observation, { connection, group }: Owner): boolean =>
  seen.operators.actions.some(
    (one) => one.connection === connection && one.moves?.some(({ to }) => to === group),
  );

/** Returns whether the event had no id and was replayed. Ingest then uses the id of the dead-lettered message. */
const isReplayed = ({ seen }: Observation, id: string, writtenAtMs: number): boolean =>
  id.startsWith('eventsDlq-') &&
  seen.operators.actions.some(
    ({ kind, atMs }) =>
      (kind === 'replay_all' || kind === 'edit_one') && atMs <= writtenAtMs + ARRIVES_WITHIN_MS,
  );

/** Returns the actor that the audit must show for an event; undefined if any actor is correct. */
function actorOf({ directoryEvent, source }: Received): string | undefined {
  // The actor of a SCIM request is the token of the request.
  if (source === 'scim') return undefined;
  return `directory ${directoryEvent.by || source}`;
}

function falseApproval(observation: Observation, { write, owner, entry }: Recorded): string | undefined {
  const { connection, group } = owner;
  const isGiven = observation.seen.operators.actions.some(
    (action) =>
      action.kind === 'approve' &&
      action.connection === connection &&
      withMoved(observation, connection, group).some((one) => one === action.group) &&
      action.atMs <= write.atMs + ARRIVES_WITHIN_MS,
  );
  if (!isGiven) return 'no operator approved removals of this group';
  return entry.actor.kind === 'operator'
    ? undefined
    : 'the entry names no operator, but an operator approved the removals';
}

function falseDrift(
  observation: Observation,
  { owner: { connection, group }, entry }: Recorded,
  ids: readonly string[],
): string | undefined {
  const { seen } = observation;
  const records = seen.under<{ readonly id: string; readonly group: string }>(`C#${connection}`, 'DRIFT#');
  // A takeover moves the records.
  const groups = withMoved(observation, connection, group);
  const missing = ids.find((id) => !records.some((one) => one.id === id && groups.includes(one.group)));
  if (missing !== undefined) return `the group has no drift record ${missing}`;
  return entry.actor.kind === 'groupsync' ? undefined : 'the actor of a drift correction must be groupsync';
}
