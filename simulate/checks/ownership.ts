import type { PlatformCall, SimulatedPlatform } from '../platform/platform.ts';
import { HOUR_MS, originalName } from '../simulation-run.ts';
import { addedOnRequest, type Change, removedOnRequest } from './ledger.ts';
import type { Checker, Observation, ObservedConnection } from './observation.ts';
import { removalsSince, withMoved } from './observation.ts';
import { IN_FLIGHT_MS } from './outside.ts';
import { partitionOf, treatmentOf } from './stored.ts';

/** Checks that groupsync writes only managed groups, as the mode permits, and mixes no two companies. */
export function createOwnership(): Checker {
  const read = new Map<string, number>();
  return (observation) => {
    for (const write of observation.writes) {
      const { change, connection } = write;
      checkWrite(observation, write);
      checkMode(observation, write);
      checkUsers(observation, connection, change);
    }
    for (const stray of observation.strays) checkStray(observation, stray);
    for (const [company, { calls }] of observation.seen.platforms) {
      for (const call of calls.slice(read.get(company))) checkToken(observation, company, call);
      read.set(company, calls.length);
    }
    for (const connection of observation.isEnd ? observation.connections : [])
      checkPeople(observation, connection);
  };
}

/** Returns whether this external id is the id of a directory group in the table. */
const isStoredGroup = ({ seen }: Observation, connection: string, spokeId: string): boolean =>
  [spokeId, spokeId.toUpperCase()].some((id) => seen.items.has(`${partitionOf(connection, id)} GROUP`));

/** Checks a write to a group without an owner. groupsync must not write to unmanaged groups. */
function checkStray(observation: Observation, { change, owner }: Observation['strays'][number]): void {
  const { connections, accuse } = observation;
  const removals = removalsSince(observation, 0);
  const removedMs = removals.findLast(({ connection }) => connection === owner?.connection)?.atMs ?? 0;
  // The write is also correct if the table contains the directory group. The reference model lacks the groups of
  // removed connections, and groups whose SCIM request got no answer.
  const names = [...connections.map(({ name }) => name), ...removals.map(({ connection }) => connection)];
  const isStored = names.some((name) => isStoredGroup(observation, name, change.spokeId ?? ''));
  if (owner === undefined && change.madeBy === 'us' && isStored) return;
  if (owner !== undefined && (change.late || change.atMs - removedMs <= IN_FLIGHT_MS)) return;
  const isTakenOver = ({ name, groupWith }: ObservedConnection) =>
    originalName(name) === owner?.connection &&
    groupWith(change.spokeIdBefore ?? change.spokeId ?? '') !== undefined;
  if (connections.some(isTakenOver)) return;
  const [cause, whose] =
    owner === undefined
      ? ['write_to_unmanaged', 'no connection']
      : ['write_after_removal', 'a removed connection'];
  const sentence = `The platform group ${change.id} belongs to ${whose}. Expected no write to it, but there was a ${change.action}.`;
  accuse('ownership', cause, owner ?? {}, sentence);
}

/** Returns whether the write only clears the external id that groupsync had set. */
const clearsExternalId = (
  { sent, spokeIdBefore, isVain }: Change,
  group: string,
  { isIdOf }: ObservedConnection,
): boolean =>
  (isVain || isIdOf(group, spokeIdBefore)) &&
  sent.spokeId === null &&
  sent.users === undefined &&
  sent.name === undefined;

function checkWrite(
  observation: Observation,
  { change, owner, connection }: Observation['writes'][number],
): void {
  const actions = observation.seen.operators.actions.filter(
    ({ done, group, atMs, moves, ...action }) =>
      done &&
      action.connection === owner.connection &&
      atMs <= change.atMs &&
      (group === owner.group || moves?.some(({ to }) => to === owner.group)),
  );
  const last = actions.findLast(({ kind }) => kind === 'release' || kind === 'adopt' || kind === 'takeover');
  const isLate = last?.kind === 'release' && change.atMs - last.atMs > IN_FLIGHT_MS;
  // Before a takeover, the group of another source may have written the platform group.
  const isOwn = connection.isIdOf(owner.group, change.spokeId ?? owner.group);
  if (isLate && isOwn && !clearsExternalId(change, owner.group, connection)) {
    const sentence = `An operator released the group ${owner.group}. Expected no further write, but there was a ${change.action} of ${change.id}.`;
    observation.accuse('ownership', 'write_after_release', owner, sentence);
  }
  const { changes = [] } = connection.ledger.pasts.get(change.id) ?? {};
  const ids = withMoved(observation, owner.connection, owner.group);
  const isOurId = (spokeId: string | null | undefined) => ids.some((id) => connection.isIdOf(id, spokeId));
  const carriesManagedId = changes.some(
    (one) => [one.spokeIdBefore, one.spokeId].some((id) => isOurId(id)) && one.atMs < change.atMs,
  );
  const isCarried = carriesManagedId || isOurId(change.spokeIdBefore);
  const [{ atMs: madeAtMs, spokeId: madeWith } = change] = changes;
  // After a POST without an answer, two platform groups may have the same external id. groupsync cannot know which
  // group it created (docs/invariants.md, section 6).
  const isTwin =
    isOurId(madeWith) &&
    connection.platform.calls.some(
      ({ route, spokeId, status, platformFaults, atMs }) =>
        (status === 'none' || platformFaults.includes('answers_half')) &&
        route === '/groups' &&
        isOurId(spokeId) &&
        Math.abs(atMs - madeAtMs) < HOUR_MS,
    );
  // The first write of groupsync counts, because another client may remove the external id later.
  const first = changes.find((one) => one.initiator === undefined);
  const isGiven = actions.some(({ kind }) => kind === 'adopt');
  const isManaged = change.action === 'create' || change.madeBy === 'us' || isGiven || isCarried || isTwin;
  if (isManaged || first !== change) return;
  const sentence = `The platform group ${change.id} was created by another client and never adopted. Expected no write to this group, but there was a ${change.action}.`;
  observation.accuse('ownership', 'write_to_a_stranger', owner, sentence);
}

/**
 * Checks the table of modes (docs/modes.md): groupsync writes nothing in the mode `report`. In the mode `additive`, it
 * deletes no group, and removes no user who is not an employee, because the directory cannot want such a user.
 */
function checkMode(
  observation: Observation,
  { change, owner, connection }: Observation['writes'][number],
): void {
  const { settings, item, platform, lastFaultMs } = connection;
  const { mode } = treatmentOf(settings, [owner.group, item(owner.group)?.name?.value]);
  const isRecentlySet = observation.seen.operators.actions.some(
    ({ kind, atMs, ...action }) =>
      action.connection === owner.connection &&
      (kind === 'set' || kind === 'connect') &&
      Math.abs(change.atMs - atMs) <= HOUR_MS,
  );
  if (isRecentlySet || change.late || clearsExternalId(change, owner.group, connection)) return;
  const accuse = (cause: string, sentence: string) => observation.accuse('ownership', cause, owner, sentence);
  if (mode === 'report')
    accuse(
      'write_in_report',
      `The mode of ${owner.group} is report. Expected no write, but there was a ${change.action}.`,
    );
  if (mode !== 'additive') return;
  if (change.action === 'delete')
    accuse(
      'deleted_in_additive',
      `The mode of ${owner.group} is additive. Expected no deletion of ${change.id}.`,
    );
  // A platform that hides users, or that compares no versions, may lose a user of another client at a write.
  if (!platform.traits.enforceVersionOnPatch || lastFaultMs() > change.atMs - HOUR_MS) return;
  for (const user of removedOnRequest(change).filter(
    (one) => !knowsPerson(platform, one) && !wasPerson(observation, one),
  ))
    accuse(
      'removed_in_additive',
      `The directory never wanted ${user} in the additive group ${owner.group}. Expected the user to stay, but groupsync removed the user.`,
    );
}

/** Whether the user id was an employee's at any time of the run. An employee may lose the id. */
const wasPerson = ({ seen: { run } }: Observation, user: string): boolean =>
  run.connections.some(({ people }) =>
    people.some(({ role, userId = `u-${role}` }) => userId === user || role === user),
  ) ||
  run.happenings.some(
    ({ actor, action }) =>
      actor === 'company' &&
      ((action.kind === 'hire' && user === (action.person.userId ?? `u-${action.person.role}`)) ||
        (action.kind === 'change_user_id' && action.userId === user)),
  );

const knowsPerson = ({ employees }: SimulatedPlatform, id: string): boolean =>
  employees.has(id) || [...employees.values()].some(({ userId }) => userId === id);

/** Returns the name of the other company to which this person or group belongs; undefined if none. */
function otherCompanyOf(
  { seen }: Observation,
  company: string,
  knows: (platform: SimulatedPlatform) => boolean,
): string | undefined {
  const others = [...seen.platforms].filter(([, platform]) => knows(platform)).map(([name]) => name);
  return others.includes(company) ? undefined : others[0];
}

function checkUsers(observation: Observation, { name, company }: ObservedConnection, change: Change): void {
  for (const user of addedOnRequest(change)) {
    const other = otherCompanyOf(observation, company, (platform) => knowsPerson(platform, user));
    if (other === undefined) continue;
    const sentence = `${user} works at ${other}. Expected no user of another company in a group of ${company}, but groupsync added the user to ${change.id}.`;
    observation.accuse('ownership', 'user_of_another_company', { connection: name }, sentence);
  }
}

function checkToken(observation: Observation, company: string, { token, route }: PlatformCall): void {
  if (token === '') return;
  const knows = ({ tokens }: SimulatedPlatform) => tokens.valid.has(token) || tokens.refreshTokens.has(token);
  const other = otherCompanyOf(observation, company, knows);
  if (other === undefined) return;
  const sentence = `A token of ${other} was sent to the platform of ${company} (${route}). Expected groupsync to send the token only to the platform of ${other}.`;
  observation.accuse('ownership', 'token_of_another_company', {}, sentence);
}

function checkPeople(observation: Observation, { name, company }: ObservedConnection): void {
  for (const key of observation.seen.items.keys()) {
    const role = key.startsWith(`R#${name}#`) ? key.slice(`R#${name}#`.length, -' PERSON'.length) : '';
    const other =
      key.endsWith(' PERSON') &&
      otherCompanyOf(observation, company, (platform) => knowsPerson(platform, role));
    if (!other) continue;
    const sentence = `${role} works at ${other}. Expected the connection ${name} to store only people of ${company}, but it stores ${role}.`;
    observation.accuse('ownership', 'person_of_another_company', { connection: name }, sentence);
  }
}
