import { looksLikeAddress } from '../../contract/address.ts';
import { MAX_ATTRIBUTE_BYTES } from '../../contract/events/bounds.ts';
import { OTHER_EMAILS } from '../../contract/match-rule.ts';
import { ACTIVE_ATTRIBUTE, isActive } from '../../domain/active.ts';
import type { DirectoryChange, DirectoryEvent } from '../../domain/event.ts';
import { attributesOf, foldEvents } from '../../domain/fold.ts';
import { type GroupId, groupId, memberId } from '../../domain/ids.ts';
import { makeStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import { withWrite } from '../../scim/member-writes.ts';
import { FULL_USER } from '../../scim/schemas/user.ts';
import { elements, isObject, type ScimObject, type ScimValue } from '../../scim/value.ts';
import { Failures } from '../ingest/accept.ts';
import { storeFold } from '../ingest/store-fold.ts';
import type { UserState } from '../ports/desired.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { askReader } from './reader-groups.ts';

/** A change of desired state and the resource whose revision dates it. */
export interface Recorded {
  readonly by: ScimResource;
  readonly change: DirectoryChange;
}

const SOURCE = 'scim';

/**
 * Stamps of a resource follow its revisions: time first, which never goes back, then the revision as the sequence.
 * They are a function of the resource, so what is recorded again after a crash is the same event again.
 */
export const stampOf = ({ id, modifiedMs, revision }: ScimResource, operation = 0): Stamp =>
  makeStamp({
    time: new Date(modifiedMs).toISOString(),
    sequence: String(revision),
    id,
    source: SOURCE,
    operation,
  });

/**
 * Records what a request changes just as ingest records events: registers, then rev and dirty, then the wake-up.
 * @throws Error where something could not be written or sent; the client sees a 500 and tries again
 */
export async function record(changes: readonly Recorded[], context: ScimContext) {
  const { ports, connection, actor } = context;
  const events = changes.map(
    ({ by, change }, operation): DirectoryEvent => ({
      connection,
      id: by.id,
      source: SOURCE,
      stamp: stampOf(by, operation),
      actor,
      change,
    }),
  );
  const failures = new Failures();
  const noOrigins = { ofGroup: () => [], ofUser: () => [] };
  for (const fold of foldEvents(events).values())
    await storeFold(fold, { ports, failures, origins: noOrigins });
  if (failures.causes.length > 0) {
    throw new Error('desired state could not be recorded', { cause: failures.causes[0] });
  }
  await askReader(events, context);
}

/** Records a user whose id no other request knows yet: nothing has to be read, and no group to be found. */
export async function recordNewUser(resource: ScimResource, { ports, connection, actor }: ScimContext) {
  const change = factsOf(resource);
  const event = { connection, id: resource.id, source: SOURCE, stamp: stampOf(resource), actor, change };
  const folds = [...foldEvents([event]).values()].flatMap(({ users }) => [...users.values()]);
  const changes = folds.map((fold) => ({ ...fold, attributes: attributesOf(fold) }));
  await Promise.all(changes.map((one) => ports.users.addNew(connection, one)));
}

/** What a resource says to desired state, its members aside. */
export function factsOf(resource: ScimResource): DirectoryChange {
  if (resource.type === 'User') return userChange(resource);
  return {
    kind: 'group.upserted',
    group: groupId(resource.id),
    name: String(resource.attributes['displayName']),
  };
}

/** Attributes that matching may use, as events name them. */
const MATCHED_ATTRIBUTES = ['userName', 'email', OTHER_EMAILS, 'externalId', 'employeeNumber'] as const;

const ENTERPRISE = FULL_USER[1].id;

/**
 * Returns the desired state of a SCIM user. Every attribute is stated each time, so the state depends on the resource
 * alone. A missing attribute is empty, which matches no person. Only a missing `active` is left out: it must not switch an
 * account on again.
 */
function userChange({ id, attributes }: ScimResource): DirectoryChange {
  const userName = text(attributes['userName']);
  const [email = looksLikeAddress(userName) ? userName : '', ...others] = emailsOf(attributes['emails']);
  const facts = new Map<string, string>([
    ['userName', userName],
    ['email', email],
    [OTHER_EMAILS, listed(others)],
    ['externalId', text(attributes['externalId'])],
    ['employeeNumber', text(extension(attributes)['employeeNumber'])],
  ]);
  const { active } = attributes;
  if (active !== undefined) facts.set(ACTIVE_ATTRIBUTE, active === false ? 'false' : 'true');
  return { kind: 'user.upserted', user: { id: memberId(id), attributes: facts } };
}

/**
 * The deletion of a user and the user's data. A deletion ends memberships that are older. The account is also switched
 * off, so that a membership that a late or concurrent request records afterwards gives no access. The account stays off,
 * because its id is never given to another user.
 */
export function userEnd({ id }: ScimResource): readonly DirectoryChange[] {
  const user = memberId(id);
  const attributes = new Map(MATCHED_ATTRIBUTES.map((name): [string, string] => [name, '']));
  attributes.set(ACTIVE_ATTRIBUTE, 'false');
  return [
    { kind: 'user.deleted', user },
    { kind: 'user.upserted', user: { id: user, attributes } },
  ];
}

/** Whether the desired state of a user is the one that `userEnd` writes. */
export const isEnded = ({ floor, attributes }: UserState): boolean =>
  floor !== STAMP_ZERO && !isActive(attributes);

const extension = (attributes: ScimObject): ScimObject => {
  const held = attributes[ENTERPRISE];
  return isObject(held) ? held : {};
};

const text = (value: ScimValue | undefined): string => (typeof value === 'string' ? value : '');

/** All addresses, the chosen one first: the primary, else the one for work, else the first. An entry without an address is none. */
function emailsOf(emails: ScimValue | undefined): readonly string[] {
  const addresses = elements(emails)
    .filter(isObject)
    .filter(({ value }) => text(value) !== '');
  const chosen =
    addresses.find(({ primary }) => primary === true) ??
    addresses.find(({ type }) => typeof type === 'string' && type.toLowerCase() === 'work') ??
    addresses[0];
  const inOrder = chosen === undefined ? [] : [chosen, ...addresses.filter((one) => one !== chosen)];
  return [...new Set(inOrder.map(({ value }) => text(value)))];
}

/** As many addresses as an attribute may hold, in order. */
function listed(addresses: readonly string[]): string {
  const plain = addresses.filter((address) => !/\s/.test(address));
  return plain.reduce((list, address) => {
    const longer = list === '' ? address : `${list} ${address}`;
    return Buffer.byteLength(OTHER_EMAILS) + Buffer.byteLength(longer) > MAX_ATTRIBUTE_BYTES ? list : longer;
  }, '');
}

/** A revision that changes what clients see; its registers are still to follow. */
export function nextRevision(before: ScimResource, nowMs: number): ScimResource {
  const revision = before.revision + 1;
  const modifiedMs = Math.max(nowMs, before.modifiedMs);
  return { ...before, revision, version: revision, modifiedMs, changedMs: modifiedMs, settled: false };
}

/**
 * A revision that changes nothing that clients see (RFC 7644 section 3.5.2.1: "the modify timestamp shall not change").
 * It still states the desired state again, with its own stamps, to complete what a crash left undone.
 */
export const idleRevision = (before: ScimResource, nowMs: number): ScimResource => ({
  ...nextRevision(before, nowMs),
  version: before.version,
  changedMs: before.changedMs,
});

/** One resource written by this many others between our read and our write would be a fault elsewhere. */
export const MAX_RACES = 50;

/** A write of a group's members that has begun, with the revision that dates it. */
export interface MemberWrite {
  readonly id: string;
  readonly revision: ScimResource;
}

/**
 * Begins a write of members without a request to the group.
 * @returns nothing where the group is no SCIM resource
 */
export async function beginWrite(group: GroupId, { ports, connection }: ScimContext): Promise<MemberWrite[]> {
  const target = { type: 'Group', id: group } as const;
  const id = ports.newId();
  const nowMs = ports.clock();
  const advanced = await ports.scim.advance(connection, target, { nowMs, isChange: true, begins: id });
  if (advanced !== undefined) return [{ id, revision: advanced }];
  for (let race = 0; race < MAX_RACES; race += 1) {
    const [before] = await ports.scim.read(connection, 'Group', [group]);
    if (before?.state !== 'live') return [];
    const writes = withWrite(before.writes, { id, nowMs: ports.clock(), held: before.replacements });
    const revision = { ...nextRevision(before, ports.clock()), settled: before.settled, writes };
    if (await ports.scim.save(connection, revision, before)) return [{ id, revision }];
  }
  throw new Error(`gave up after ${MAX_RACES} concurrent writes of one group`);
}
