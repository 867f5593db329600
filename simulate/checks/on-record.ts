import { DAY_MS, MINUTE_MS, originalName } from '../simulation-run.ts';
import { falsehoodIn } from './causes.ts';
import { addedOnRequest, type Change, removedOnRequest } from './ledger.ts';
import {
  type Checker,
  hasLostItsCredential,
  type Observation,
  type ObservedConnection,
  withMoved,
} from './observation.ts';
import { holdsIn, partitionOf, RECORDS_KEPT_MS, type StoredAudit, type StoredDrift } from './stored.ts';

/**
 * The longest time between a write and its audit entry, if the answer arrives. A write waits up to a minute for its
 * answer, and clocks differ by 3 s.
 */
const AT_ONCE_MS = 90_000;
/** The kinds of initiators that are never groupsync. */
const ANOTHER: ReadonlySet<string> = new Set(['ROLE', 'SYSTEM']);
const ACTION_MS = 30 * MINUTE_MS;

/** The audit action of each operator action. The audit does not contain actions that only start work. */
const ACTIONS: Readonly<Record<string, RegExp>> = {
  ...{ approve: /approve/, reject: /reject/, pause: /pause/, resume: /resume/ },
  ...{ pause_all: /pause/, resume_all: /resume/ },
  ...{
    observe: /^reconnect$/,
    connect: /^(?:re)?connect$/,
    set: /_set$/,
    new_token: /token/,
    adopt: /adopt/,
    forget: /forget/,
    block: /^block$/,
    unblock: /^unblock$/,
    ...{ confirm: /_confirm$/, reject_requests: /_reject$/ },
    ...{
      takeover: /^directory_takeover$/,
      new_client: /client/,
      send: /^events_send$/,
      ...{ import: /^import$/, undo_import: /^import$/, undo: /^import$/ },
      accept_deletions: /^directory_accept_deletions$/,
    },
  },
  ...{ release: /release/, rebind: /rebind/, replay_all: /replay/, discard_one: /discard/, edit_one: /edit/ },
};

/**
 * Checks the audit and the drift records. The audit must contain every write and every operator action with the correct
 * cause. Each record of an external change must name the initiator that the feed shows.
 */
export const createOnRecord = (): Checker => (observation) => {
  if (!observation.isEnd) return;
  for (const connection of observation.connections) {
    checkActions(observation, connection);
    checkHolds(observation, connection);
    for (const group of connection.groups) {
      for (const record of connection.drift(group)) checkDrift(observation, connection, record);
    }
  }
  const isKept = ({ atMs }: { readonly atMs: number }) => observation.nowMs - atMs < RECORDS_KEPT_MS;
  for (const [company, { writes }] of observation.seen.platforms) {
    const taken = new Set<StoredAudit>();
    for (const write of writes.filter(isKept)) checkWrite(observation, company, { write, taken });
  }
};

/** Returns all entries. Actions that may cause removals have a key prefix of their own. */
const auditOf = ({ seen }: Observation, connection: string, group: string) =>
  ['A#', 'ACT#'].flatMap((prefix) => seen.under<StoredAudit>(partitionOf(connection, group), prefix));

interface Written {
  readonly write: Omit<Change, 'sizeBefore' | 'spokeIdBefore'>;
  /** The entries that the check has already assigned to a write. Each entry belongs to only one write. */
  readonly taken: Set<StoredAudit>;
}

/** Returns whether the write changed nothing, so that its entry may report no effect. */
const changesNothing = ({ write: { action, added, removed, sent, version }, taken }: Written): boolean =>
  added.length + removed.length === 0 &&
  ((action === 'patch' && Object.keys(sent).join() === 'users') ||
    (action === 'put' && [...taken].some(({ versionAfter }) => versionAfter === version)));

function checkWrite(observation: Observation, company: string, { write, taken }: Written): void {
  const owner = observation.ownerOf(company, write.id, write.spokeId);
  if (owner === undefined || changesNothing({ write, taken })) return;
  // Another directory group may have adopted or taken over the platform group after the write.
  const { groupWith } = observation.connections.find(({ name }) => name === owner.connection) ?? {};
  const moved = withMoved(observation, owner.connection, owner.group);
  const groups = new Set([...moved, groupWith?.(write.spokeId ?? '') ?? owner.group]);
  // If the connection was removed and created again under another name, the entry may have the old or the new name.
  const names = new Set([owner.connection, originalName(owner.connection)]);
  const audited = [...names].flatMap((name) =>
    [...groups].flatMap((group) =>
      auditOf(observation, name, group).map((entry) => ({ entry, by: { connection: name, group } })),
    ),
  );
  const entries = audited.filter(({ entry }) => {
    const mayBeIts = entry.action === write.action && entry.cause !== '' && entry.outcome !== 'rejected';
    return mayBeIts && !taken.has(entry);
  });
  const fits = ({ atMs, outcome }: StoredAudit) => {
    const laterMs = atMs - write.atMs;
    // If the answer to a write was lost, a worker writes the entry later, after a read has shown the result of the
    // write.
    return (
      Math.abs(laterMs) <= AT_ONCE_MS || (outcome.startsWith('found') && laterMs >= 0 && laterMs <= DAY_MS)
    );
  };
  const hasVersion = ({ versionAfter }: StoredAudit) => versionAfter === write.version;
  // The platform's answer may show the group from before the write. The entry then has the version of an earlier write.
  const isNew = ({ versionBefore, versionAfter }: StoredAudit) => versionBefore !== versionAfter;
  const recorded =
    entries.find(({ entry }) => hasVersion(entry) && isNew(entry)) ??
    entries.find(({ entry }) => fits(entry)) ??
    entries.find(({ entry }) => hasVersion(entry));
  if (recorded !== undefined) {
    const { entry, by } = recorded;
    taken.add(entry);
    // The cause names an event of the connection that wrote the entry. This connection may have been removed since.
    const falsehood = falsehoodIn(observation, { write, owner: by, entry });
    if (falsehood === undefined) return;
    const sentence = `The ${write.action} of ${write.id} at ${timeOf(write.atMs)}, of the group ${owner.group}, names the cause "${entry.cause}" and the actor ${entry.actor.kind} ${entry.actor.id}. Expected the correct cause and actor, but ${falsehood}.`;
    observation.accuse('on_record', 'false_cause', owner, sentence);
    return;
  }
  // Without a credential, no worker can read the outcome of the write. The intent of the write then stays open, and the
  // write has no entry.
  const connection = observation.connections.find(({ name }) => name === owner.connection);
  const { action, atMs = 0 } = connection?.item(owner.group)?.intent ?? {};
  const isOpen = action === write.action && atMs <= write.atMs;
  if (isOpen && connection !== undefined && hasLostItsCredential(observation, connection)) return;
  const sentence = `The ${write.action} of ${write.id} at ${timeOf(write.atMs)} took effect on the platform. Expected an audit entry, but the group ${owner.group} has none.`;
  observation.accuse(
    'on_record',
    write.late ? 'late_write_without_audit' : 'write_without_audit',
    owner,
    sentence,
  );
}

function checkActions(observation: Observation, { name, groups }: ObservedConnection): void {
  for (const action of observation.seen.operators.actions) {
    const { kind, connection, group, done, crashed, atMs, confirmedBy, moves = [] } = action;
    const pattern = ACTIONS[kind];
    // A confirmed request has the entry of its confirmation.
    if (connection !== name || !done || crashed || confirmedBy || pattern === undefined) continue;
    if (observation.nowMs - atMs >= RECORDS_KEPT_MS) continue;
    // Entries without a group are stored under an id that no group can have.
    const entries = [
      ...auditOf(observation, name, ''),
      ...(group === undefined ? [] : auditOf(observation, name, group)),
      ...moves.flatMap(({ from }) => auditOf(observation, name, from)),
      // The audit stores an action on a dead-lettered message under the group of the message.
      ...(/_one$/.test(kind) ? groups.flatMap((one) => auditOf(observation, name, one)) : []),
    ];
    // A takeover only continues the moves that an interrupted one began, with their entries.
    const mostMs = kind === 'takeover' ? 4 * ACTION_MS : ACTION_MS;
    const near = entries.filter((entry) => Math.abs(entry.atMs - atMs) <= mostMs);
    const isOf = ({ action, cause, actor }: StoredAudit) =>
      actor.kind === 'operator' && (pattern.test(action) || pattern.test(cause));
    if (near.some(isOf)) continue;
    const ofGroup = group === undefined ? '' : ` of the group ${group}`;
    const sentence = `An operator's ${kind}${ofGroup} was done at ${timeOf(atMs)}. Expected an audit entry with actor and reason, but there is none.`;
    observation.accuse('on_record', `action_${kind}`, { connection: name }, sentence);
  }
}

/** Checks the audit entries of holds. groupsync writes the entry of a hold before the hold, so this entry must exist. */
function checkHolds(observation: Observation, { name, groups, item }: ObservedConnection): void {
  const isRecorded = (group: string, action: string, atMs: number) =>
    withMoved(observation, name, group).some((one) =>
      auditOf(observation, name, one).some(
        (entry) => entry.action === action && Math.abs(entry.atMs - atMs) <= AT_ONCE_MS,
      ),
    );
  for (const group of groups) {
    for (const { createdAtMs } of holdsIn(item(group) ?? {})) {
      if (observation.nowMs - createdAtMs >= RECORDS_KEPT_MS || isRecorded(group, 'hold', createdAtMs))
        continue;
      const sentence = `The group ${group} was held at ${timeOf(createdAtMs)}. Expected an audit entry of the hold, but there is none.`;
      observation.accuse('on_record', 'hold_without_audit', { connection: name, group }, sentence);
    }
  }
}

function checkDrift(
  observation: Observation,
  { ledger, name, platform, ...connection }: ObservedConnection,
  record: StoredDrift,
): void {
  const { kind, platformId, initiator, detectedAtMs, group, before, after } = record;
  const about = { connection: name, group };
  const changes =
    ledger.pasts.get(platformId ?? '')?.changes.filter(({ atMs }) => atMs <= detectedAtMs + AT_ONCE_MS) ?? [];
  const external = changes.filter((change) => change.initiator !== undefined);
  const last = external.at(-1);
  if (last === undefined) {
    // Only the changes since the last change of these users can explain the difference.
    const users = [before, after].flat();
    const isOfThem = ({ added, removed }: Change) =>
      [...added, ...removed].some((one) => users.includes(one));
    const latest = changes.slice(Math.max(0, changes.findLastIndex(isOfThem)));
    const own = latest.map((change) => ({
      ...change,
      added: addedOnRequest(change),
      removed: removedOnRequest(change),
    }));
    if (!makes(own, record) || isKeptInVain(changes, record)) return;
    const sentence = `Only groupsync changed the platform group ${platformId} in this way. Expected no drift record, but a record (${kind}) reports an external change.`;
    const isLate = changes.some(({ late }) => late);
    observation.accuse('on_record', `${isLate ? 'late' : 'own'}_write_taken_for_drift`, about, sentence);
    return;
  }
  const makers = [...new Set(external.map((change) => String(change.initiator)))];
  const isRecorded = observation.nowMs - last.atMs - platform.traits.feedLagMs > DAY_MS / 2;
  const isQuiet = connection.lastFaultMs() < last.atMs && connection.actionMs < last.atMs;
  if (
    initiator === 'UNKNOWN'
      ? isRecorded && isQuiet && makes(external, record)
      : ANOTHER.has(initiator) && !makers.includes(initiator)
  ) {
    const cause = initiator === 'UNKNOWN' ? 'drift_without_initiator' : 'drift_of_another';
    const sentence = `The feed names ${makers.join(', ')} as initiator of the change of ${platformId} (${kind}). Expected this initiator in the drift record, but the record names ${initiator}.`;
    observation.accuse('on_record', cause, about, sentence);
  }
}

/** Returns whether groupsync requested the removal of each of these users, and the platform did not remove the user. */
function isKeptInVain(changes: readonly Change[], { kind, after }: StoredDrift): boolean {
  if (kind !== 'members_added') return false;
  return [after ?? []].flat().every((user) => {
    const addedAt = changes.findLastIndex(({ added }) => added.includes(user));
    return changes.slice(addedAt + 1).some(({ sent }) => sent.users?.includes(user) === false);
  });
}

function makes(
  changes: readonly Pick<Change, 'added' | 'removed' | 'name' | 'action'>[],
  { kind, before, after }: StoredDrift,
) {
  const isAllIn = (users: StoredDrift['after'], of: 'added' | 'removed') => {
    const listed = [users ?? []].flat();
    return listed.length > 0 && listed.every((user) => changes.some((change) => change[of].includes(user)));
  };
  if (kind === 'members_added') return isAllIn(after, 'added');
  if (kind === 'members_removed') return isAllIn(before, 'removed');
  if (kind === 'name') return changes.some(({ name }) => name === after);
  return kind === 'deleted' && changes.some(({ action }) => action === 'delete');
}

const timeOf = (atMs: number) => new Date(atMs).toISOString();
