import { HOUR_MS, MINUTE_MS, START_MS } from '../simulation-run.ts';
import type { Checker, Observation, ObservedConnection } from './observation.ts';
import { partitionOf, type StoredMember, storedUser } from './stored.ts';

const LEFT_LYING_MS = 15 * MINUTE_MS;
/** SQS stores a dead-lettered message for 14 days. This check looks only for younger messages. */
const DEAD_LETTERS_KEPT_DAYS = 13;
/** Faults that may stop an operation of two steps after its first step. */
const ENDS_HALFWAY = new Set(['crash', 'throttled', 'unheard']);

/** Checks that every message is stored, dead-lettered or refused to its sender, and that all started work completes. */
export const createNothingLost = (): Checker => (observation) => {
  if (!observation.isEnd) return;
  checkQueues(observation);
  checkClaims(observation);
  checkMembersStay(observation);
  for (const connection of observation.connections) {
    checkRubbish(observation, connection);
    checkVersions(observation, connection);
    for (const member of connection.reading.emails.keys()) checkFanOut(observation, connection, member);
    for (const group of connection.groups) {
      checkIntent(observation, connection, group);
      checkRegisters(observation, connection, group);
    }
  }
};

function checkQueues({ seen, nowMs, accuse }: Observation): void {
  for (const queue of ['events', 'apply'] as const) {
    const left = seen.queues[queue].filter(({ visibleAtMs }) => visibleAtMs < nowMs - LEFT_LYING_MS);
    const sentence = `Expected the ${queue} queue to be empty after a day without faults, but it has ${left.length} messages.`;
    if (left.length > 0) accuse('nothing_lost', `queue_${queue}`, {}, sentence);
  }
}

/** Checks that the register of a present member has no expiry time. */
function checkMembersStay({ seen, accuse }: Observation): void {
  for (const [key, item] of seen.items) {
    const { presence, expiresAt } = item as { readonly presence?: string; readonly expiresAt?: number };
    if (presence !== 'present' || expiresAt === undefined) continue;
    const [, connection = '', group = ''] = key.split(' ')[0]?.split('#') ?? [];
    const sentence = `The member ${item['member']} is in the group ${group}. Expected a register that never expires, but the register expires at ${new Date(expiresAt * 1_000).toISOString()}.`;
    accuse('nothing_lost', 'present_member_expires', { connection, group }, sentence);
  }
}

function checkClaims({ seen, connections, accuse }: Observation): void {
  for (const [key, { platformId, connection, group, expiresAt }] of seen.items) {
    if (!key.startsWith('L#') || expiresAt !== undefined) continue;
    const owner = connections.find(({ name }) => name === connection);
    const item = owner?.item(String(group));
    const isInUse =
      item?.link?.id === platformId || item?.intent !== undefined || item?.dirtySince !== undefined;
    if (owner === undefined || isInUse) continue;
    const sentence = `The group ${group} is not linked to ${platformId}. Expected no claim on the platform group, but the claim is still stored.`;
    const cause = seen.run.happenings.some(({ action }) => ENDS_HALFWAY.has(action.kind))
      ? 'claim_left_by_fault'
      : 'claim_left';
    accuse('nothing_lost', cause, { connection: owner.name, group: String(group) }, sentence);
  }
}

/** Checks that the server answers two SCIM requests with different names with different versions. */
function checkVersions({ seen, accuse }: Observation, { name }: ObservedConnection): void {
  const named = new Map<string, string>();
  for (const { directoryEvent, version: number } of seen.directory.received(name)) {
    if (number === undefined || directoryEvent.group === undefined || directoryEvent.name == null) continue;
    const version = `${directoryEvent.group} ${number}`;
    const other = named.get(version) ?? directoryEvent.name;
    named.set(version, other);
    if (other === directoryEvent.name) continue;
    const sentence = `Two requests were acknowledged with the version ${number} of the group ${directoryEvent.group}. Expected one name per version, but the requests set "${other}" and "${directoryEvent.name}".`;
    const about = { connection: name, group: directoryEvent.group };
    accuse('nothing_lost', 'one_version_for_two', about, sentence);
  }
}

/** Checks that each message without a readable event is unchanged in the dead-letter queue. */
function checkRubbish({ seen, nowMs, accuse }: Observation, { name }: ObservedConnection): void {
  const thrownAway = seen.operators.actions.filter(
    ({ kind, connection, done }) => kind === 'discard_one' && connection === name && done,
  );
  const kept = new Set([...seen.queues.events, ...seen.queues.eventsDlq].map(({ body }) => body));
  const lost = seen.run.happenings.filter(
    ({ connection, action, atMs }) =>
      action.kind === 'rubbish' && connection === name && START_MS + atMs <= nowMs && !kept.has(action.body),
  );
  if (lost.length <= thrownAway.length || seen.run.days > DEAD_LETTERS_KEPT_DAYS) return;
  const sentence = `${lost.length} unreadable messages are not in the dead-letter queue. Expected at most the ${thrownAway.length} messages that operators discarded to be missing.`;
  accuse('nothing_lost', 'deadLetter_lost', { connection: name }, sentence);
}

function checkFanOut({ seen, accuse }: Observation, { name }: ObservedConnection, member: string): void {
  if (storedUser(seen, name, member)?.fanOut === undefined) return;
  const sentence = `Expected every user fan-out to end, but the fan-out of ${member} is still open.`;
  accuse('nothing_lost', 'open_walk', { connection: name }, sentence);
}

function checkIntent({ nowMs, accuse }: Observation, connection: ObservedConnection, group: string): void {
  const { intent, pausedAt } = connection.item(group) ?? {};
  const isStill = pausedAt !== undefined || connection.isObserving || connection.gate !== 'open';
  if (intent === undefined || isStill || nowMs - intent.atMs <= HOUR_MS) return;
  const sentence = `A ${intent.action} of the group ${group} was started ${Math.floor((nowMs - intent.atMs) / HOUR_MS)} hours ago. Expected its outcome to be known, but the intent is still open.`;
  accuse('nothing_lost', 'open_intent', { connection: connection.name, group }, sentence);
}

/** Checks that the stored registers of a group equal the reference model. */
function checkRegisters(observation: Observation, connection: ObservedConnection, group: string): void {
  const { name, reading } = connection;
  const directoryGroup = reading.groups.get(group);
  const { upserted = '', deleted = '', snapshot = '', name: given } = connection.item(group) ?? {};
  const floor = deleted > snapshot ? deleted : snapshot;
  const stored = observation.seen
    .under<StoredMember>(partitionOf(name, group), 'M#')
    .filter(
      ({ presence, stamp, member }) =>
        presence === 'present' && stamp >= floor && stamp > floorOf(observation, name, member),
    )
    .map(({ member }) => member);
  const found: string[] = [];
  if (upserted > deleted !== (directoryGroup !== undefined))
    found.push(directoryGroup === undefined ? 'the group is deleted' : 'the group exists');
  else if (directoryGroup !== undefined) {
    const storedName = given !== undefined && given.stamp > deleted ? given.value : undefined;
    if (storedName !== directoryGroup.name) found.push(`the group is called "${directoryGroup.name}"`);
    const lacking = [...directoryGroup.members].filter((one) => !stored.includes(one));
    const surplus = stored.filter((one) => !directoryGroup.members.has(one));
    found.push(
      ...lacking.map((one) => `${one} is a member`),
      ...surplus.map((one) => `${one} is not a member`),
    );
  }
  if (found.length === 0 || observation.seen.run.days > DEAD_LETTERS_KEPT_DAYS) return;
  // A text about a member begins with the id of the member. A dead-lettered message about a user concerns all groups of
  // the user.
  const isInDeadLetters = [group, ...found.map((one) => one.split(' ')[0] ?? '')].some(
    observation.isInDeadLetters,
  );
  if (isInDeadLetters || connection.hasUncertainRequest(group)) return;
  const sentence = `The events about the group ${group} say: ${found[0]}. Expected this in the registers or in a dead-lettered message, but neither contains it.`;
  observation.accuse('nothing_lost', 'register', { connection: name, group }, sentence);
}

const floorOf = ({ seen }: Observation, connection: string, member: string) =>
  storedUser(seen, connection, member)?.floor ?? '';
