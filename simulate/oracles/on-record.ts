import { originalName } from '../draw-returns.ts';
import { DAY_MS, type Life, MINUTE_MS, START_MS } from '../life.ts';
import { falsehoodIn } from './causes.ts';
import { type Change, putIn, takenOut } from './ledger.ts';
import { hasLostItsCredential, type Judge, type Owner, type Sight, type Sighted } from './sight.ts';
import { partitionOf, RECORDS_KEPT_MS, readItem, type StoredAudit, type StoredDrift } from './stored.ts';

/** Clocks are 3 s apart at most, and a write waits at most a minute for its answer. */
const AT_ONCE_MS = 90_000;
/** Initiators that are certainly other clients. An application may be ourselves, and a feed may name unknown kinds. */
const ANOTHER: ReadonlySet<string> = new Set(['ROLE', 'SYSTEM']);
const ACTION_MS = 30 * MINUTE_MS;

/** What an operator's action is called in the audit; what asks for work without changing anything is not. */
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
  },
  ...{ release: /release/, rebind: /rebind/, replay_all: /replay/, discard_one: /discard/, edit_one: /edit/ },
};

/** Every write and every action is in the audit with its cause, and every drift has who did it where the feed says. */
export const createOnRecord = (): Judge => (sight) => {
  if (!sight.isEnd) return;
  for (const connection of sight.connections) {
    judgeActions(sight, connection);
    judgeStops(sight, connection);
    for (const group of connection.groups) {
      for (const record of connection.drift(group)) judgeDrift(sight, connection, record);
    }
  }
  const isKept = ({ atMs }: { readonly atMs: number }) => sight.nowMs - atMs < RECORDS_KEPT_MS;
  for (const [company, { writes }] of sight.seen.platforms) {
    const taken = new Set<StoredAudit>();
    for (const write of writes.filter(isKept)) judgeWrite(sight, company, { write, taken });
  }
};

const auditOf = ({ seen }: Sight, connection: string, group: string) =>
  seen.under<StoredAudit>(partitionOf(connection, group), 'A#');

interface Written {
  readonly write: Omit<Change, 'sizeBefore' | 'spokeIdBefore'>;
  /** One entry stands for one write. */
  readonly taken: Set<StoredAudit>;
}

/** The write keeps the version, so a later read finds that it did not take effect, which is true. */
const changesNothing = ({ write: { action, added, removed, sent, version }, taken }: Written): boolean =>
  added.length + removed.length === 0 &&
  ((action === 'patch' && Object.keys(sent).join() === 'users') ||
    (action === 'put' && [...taken].some(({ versionAfter }) => versionAfter === version)));

function judgeWrite(sight: Sight, company: string, { write, taken }: Written): void {
  const owner = sight.ownerOf(company, write.id, write.spokeId);
  if (owner === undefined || changesNothing({ write, taken })) return;
  // Another directory group may have taken the platform's over since.
  const { groupWith } = sight.connections.find(({ name }) => name === owner.connection) ?? {};
  const groups = new Set([owner.group, groupWith?.(write.spokeId ?? '') ?? owner.group]);
  // The connection that returned under another name owns the groups of the removed connection.
  const names = new Set([owner.connection, originalName(owner.connection)]);
  const audited = [...names].flatMap((name) =>
    [...groups].flatMap((group) =>
      auditOf(sight, name, group).map((entry) => ({ entry, by: { connection: name, group } })),
    ),
  );
  const entries = audited.filter(({ entry }) => {
    const mayBeIts = entry.action === write.action && entry.cause !== '' && entry.outcome !== 'rejected';
    return mayBeIts && !taken.has(entry);
  });
  const fits = ({ atMs, outcome }: StoredAudit) => {
    const laterMs = atMs - write.atMs;
    // A write whose answer was lost is recorded once a worker has read its result.
    return (
      Math.abs(laterMs) <= AT_ONCE_MS || (outcome.startsWith('found') && laterMs >= 0 && laterMs <= DAY_MS)
    );
  };
  const hasVersion = ({ versionAfter }: StoredAudit) => versionAfter === write.version;
  // An answer that shows the group before the write has the version of an earlier write.
  const isNew = ({ versionBefore, versionAfter }: StoredAudit) => versionBefore !== versionAfter;
  const recorded =
    entries.find(({ entry }) => hasVersion(entry) && isNew(entry)) ??
    entries.find(({ entry }) => fits(entry)) ??
    entries.find(({ entry }) => hasVersion(entry));
  if (recorded !== undefined) {
    const { entry, by } = recorded;
    taken.add(entry);
    judgeActor(sight, write, by, entry);
    // Its cause was said to the connection that recorded it, which may be removed since.
    const falsehood = falsehoodIn(sight, { write, owner: by, entry });
    if (falsehood === undefined) return;
    const told = `The ${write.action} of ${write.id} at ${timeOf(write.atMs)}, of the group ${owner.group}, names the cause "${entry.cause}" and the actor ${entry.actor.kind} ${entry.actor.id}; expected the true ones, but ${falsehood}.`;
    sight.accuse('on_record', 'false_cause', owner, told);
    return;
  }
  // Without the credential no worker can read what became of a write.
  const connection = sight.connections.find(({ name }) => name === owner.connection);
  const { action, atMs = 0 } = connection?.item(owner.group)?.intent ?? {};
  const isOpen = action === write.action && atMs <= write.atMs;
  if (isOpen && connection !== undefined && hasLostItsCredential(sight, connection)) return;
  const sentence = `The ${write.action} of ${write.id} at ${timeOf(write.atMs)} happened at the platform; expected an audit entry of it, but the group ${owner.group} has none.`;
  sight.accuse('on_record', write.late ? 'late_write_without_audit' : 'write_without_audit', owner, sentence);
}

/** A person lets a hold go, or says again what a dead-lettered message said; nothing else is put down to one. */
function judgeActor(sight: Sight, write: Written['write'], owner: Owner, { actor }: StoredAudit): void {
  const hadASay = sight.seen.operators.actions.some(
    ({ kind, connection, group, atMs }) =>
      atMs <= write.atMs + AT_ONCE_MS &&
      (kind === 'replay_all' ||
        (connection === owner.connection &&
          (kind === 'edit_one' || (kind === 'approve' && group === owner.group)))),
  );
  if (actor.kind !== 'operator' || hadASay) return;
  const sentence = `The ${write.action} of ${write.id} at ${timeOf(write.atMs)} is put down to ${actor.id}; expected an operator who acted on the group ${owner.group}, but this one did not.`;
  sight.accuse('on_record', 'write_of_another', owner, sentence);
}

function judgeActions(sight: Sight, { name, groups }: Sighted): void {
  for (const { kind, connection, group, done, died, atMs } of sight.seen.operators.actions) {
    const word = ACTIONS[kind];
    if (connection !== name || !done || died || word === undefined) continue;
    if (sight.nowMs - atMs >= RECORDS_KEPT_MS) continue;
    // What concerns no one group is kept under an id that no group can have.
    const entries = [
      ...auditOf(sight, name, ''),
      ...(group === undefined ? [] : auditOf(sight, name, group)),
      // What was done to a dead-lettered message is kept with the group that the dead-lettered message is about.
      ...(/_one$/.test(kind) ? groups.flatMap((one) => auditOf(sight, name, one)) : []),
    ];
    const near = entries.filter((entry) => Math.abs(entry.atMs - atMs) <= ACTION_MS);
    const isOf = ({ action, cause, actor }: StoredAudit) =>
      actor.kind === 'operator' && (word.test(action) || word.test(cause));
    if (near.some(isOf)) continue;
    const ofGroup = group === undefined ? '' : ` of the group ${group}`;
    const sentence = `An operator's ${kind}${ofGroup} was done at ${timeOf(atMs)}; expected an audit entry with who and why, but there is none.`;
    sight.accuse('on_record', `action_${kind}`, { connection: name }, sentence);
  }
}

/** Holds are recorded before they are made; a gate once it is closed, so that a worker may die in between. */
function judgeStops(sight: Sight, { name, groups, item }: Sighted): void {
  const { seen } = sight;
  const isTold = (group: string, action: string, atMs: number) =>
    auditOf(sight, name, group).some(
      (entry) => entry.action === action && Math.abs(entry.atMs - atMs) <= AT_ONCE_MS,
    );
  for (const group of groups) {
    const { hold } = item(group) ?? {};
    if (
      hold === undefined ||
      sight.nowMs - hold.createdAtMs >= RECORDS_KEPT_MS ||
      isTold(group, 'hold', hold.createdAtMs)
    )
      continue;
    const sentence = `The group ${group} was held at ${timeOf(hold.createdAtMs)}; expected an audit entry of it, but there is none.`;
    sight.accuse('on_record', 'hold_without_audit', { connection: name, group }, sentence);
  }
  const gate = readItem<{ state: string; sinceMs?: number }>(seen, `C#${name} GATE`);
  const isByItself = gate?.state === 'backoff' || gate?.state === 'unauthorized';
  if (!isByItself || gate.sinceMs === undefined || isCloudUnwell(seen.life, gate.sinceMs - START_MS)) return;
  if (sight.nowMs - gate.sinceMs >= RECORDS_KEPT_MS || isTold('', 'gate_close', gate.sinceMs)) return;
  const sentence = `The gate of ${name} closed at ${timeOf(gate.sinceMs)}; expected that in the journal, but it is not there.`;
  sight.accuse('on_record', 'gate_without_audit', { connection: name }, sentence);
}

/** A crash is set like a trap: it may come long after. */
const isCloudUnwell = ({ happenings }: Life, thenMs: number): boolean =>
  happenings.some(({ actor, atMs, action }) => {
    const forMs = 'forMs' in action ? action.forMs : DAY_MS;
    return actor === 'aws' && atMs <= thenMs + AT_ONCE_MS && atMs + forMs >= thenMs - AT_ONCE_MS;
  });

function judgeDrift(
  sight: Sight,
  { ledger, name, platform, ...connection }: Sighted,
  record: StoredDrift,
): void {
  const { kind, platformId, initiator, detectedAtMs, group, before, after } = record;
  const about = { connection: name, group };
  const changes =
    ledger.pasts.get(platformId ?? '')?.changes.filter(({ atMs }) => atMs <= detectedAtMs + AT_ONCE_MS) ?? [];
  const foreign = changes.filter((change) => change.initiator !== undefined);
  const last = foreign.at(-1);
  if (last === undefined) {
    // What we did before the platform last changed the same users, as it does by itself, is not what was found.
    const users = [before, after].flat();
    const isOfThem = ({ added, removed }: Change) =>
      [...added, ...removed].some((one) => users.includes(one));
    const latest = changes.slice(Math.max(0, changes.findLastIndex(isOfThem)));
    const ours = latest.map((change) => ({ ...change, added: putIn(change), removed: takenOut(change) }));
    if (!makes(ours, record) || isKeptInVain(changes, record)) return;
    const sentence = `Only we changed the platform group ${platformId} so; expected no drift of it, but a record (${kind}) reports an external change.`;
    const isLate = changes.some(({ late }) => late);
    sight.accuse('on_record', `${isLate ? 'late' : 'own'}_write_taken_for_drift`, about, sentence);
    return;
  }
  const makers = [...new Set(foreign.map((change) => String(change.initiator)))];
  const isTold = sight.nowMs - last.atMs - platform.traits.feedLagMs > DAY_MS / 2;
  const isQuiet = connection.troubleMs() < last.atMs && connection.actionMs < last.atMs;
  if (
    initiator === 'UNKNOWN'
      ? isTold && isQuiet && makes(foreign, record)
      : ANOTHER.has(initiator) && !makers.includes(initiator)
  ) {
    const cause = initiator === 'UNKNOWN' ? 'drift_without_initiator' : 'drift_of_another';
    const sentence = `The feed says that ${makers.join(', ')} changed ${platformId} (${kind}); expected that with its drift, but it names ${initiator}.`;
    sight.accuse('on_record', cause, about, sentence);
  }
}

/** Whether these changes made just this difference. */
/** Whether we removed each of the users after they were added, and the platform kept them: then finding them is drift. */
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
