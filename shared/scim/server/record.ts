import { addressIn, visibleText } from '../../contract/address.ts';
import { MAX_ATTRIBUTE_BYTES } from '../../contract/events/bounds.ts';
import { OTHER_EMAILS } from '../../contract/match-rule.ts';
import { ACTIVE_ATTRIBUTE, isActive } from '../../domain/active.ts';
import type { DirectoryChange, DirectoryEvent } from '../../domain/event.ts';
import { attributesOf, foldEvents } from '../../domain/fold.ts';
import { type GroupId, groupId, memberId } from '../../domain/ids.ts';
import { SCIM_SOURCE } from '../../domain/source.ts';
import { makeStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import { Failures } from '../../sync/ingest/accept.ts';
import { storeFold } from '../../sync/ingest/store-fold.ts';
import type { UserState } from '../../sync/ports/desired.ts';
import type { ScimResource } from '../ports.ts';
import { withWrite } from '../protocol/member-writes.ts';
import { FULL_USER } from '../protocol/schemas/user.ts';
import { elements, isObject, type ScimObject, type ScimValue } from '../protocol/value.ts';
import type { ScimContext } from './context.ts';
import { askReader } from './reader-groups.ts';

/** A change of the desired state, and the resource from whose revision the stamp is made. */
export interface Recorded {
  readonly by: ScimResource;
  readonly change: DirectoryChange;
}

const eventIdOf = ({ id, revision }: ScimResource): string => `${id}.${revision}`;

/**
 * Returns the stamp of a resource's revision. Its time is the modification time, which never decreases, and its
 * sequence is the revision. The stamp depends only on the resource, so a repetition after a crash has the same stamp.
 */
export const stampOf = (by: ScimResource, operation = 0): Stamp =>
  makeStamp({
    time: new Date(by.modifiedMs).toISOString(),
    sequence: String(by.revision),
    id: eventIdOf(by),
    source: SCIM_SOURCE,
    operation,
  });

/**
 * Records the changes of a request in the same order as ingest: first the registers, then `rev` and the dirty mark of
 * the group, then the wake-up.
 * @param whenStored runs while the groups are marked and woken
 * @throws Error if a write or a message failed. The client then gets a 500 and retries
 */
export async function record(
  changes: readonly Recorded[],
  context: ScimContext,
  whenStored?: () => Promise<void>,
) {
  const { ports, connection, actor } = context;
  const events = changes.map(
    ({ by, change }, operation): DirectoryEvent => ({
      connection,
      id: eventIdOf(by),
      source: SCIM_SOURCE,
      stamp: stampOf(by, operation),
      actor,
      change,
    }),
  );
  for (const { id } of events) context.noteEvent(id);
  const failures = new Failures();
  const noOrigins = { ofGroup: () => [], ofUser: () => [] };
  for (const fold of foldEvents(events).values())
    await storeFold(fold, { ports, failures, origins: noOrigins, whenStored });
  if (failures.causes.length > 0) {
    throw new Error('desired state could not be recorded', { cause: failures.causes[0] });
  }
  await askReader(events, context);
}

/** Returns the context with the token that began a write, because only the sender of a removal may not approve it. */
export const asSender = (token: string | undefined, context: ScimContext): ScimContext =>
  token === undefined ? context : { ...context, actor: { kind: 'scim', id: token } };

/** Records a user whose id no other request knows yet. The function needs no read, because the user is in no group. */
export async function recordNewUser(resource: ScimResource, context: ScimContext) {
  const { ports, connection, actor, noteEvent } = context;
  const [id, stamp, change] = [eventIdOf(resource), stampOf(resource), factsOf(resource)];
  noteEvent(id);
  const event = { connection, id, source: SCIM_SOURCE, stamp, actor, change };
  const folds = [...foldEvents([event]).values()].flatMap(({ users }) => [...users.values()]);
  const changes = folds.map((fold) => ({ ...fold, attributes: attributesOf(fold) }));
  await Promise.all(changes.map((one) => ports.users.addNew(connection, one)));
}

/** Returns the change that a resource makes to the desired state, without its members. */
export function factsOf(resource: ScimResource): DirectoryChange {
  if (resource.type === 'User') return userChange(resource);
  return {
    kind: 'group.upserted',
    group: groupId(resource.id),
    name: String(resource.attributes['displayName']),
  };
}

/** The attributes for `match` and `people.exclude`, under their names in events. */
const STORED_ATTRIBUTES = [
  'userName',
  'email',
  OTHER_EMAILS,
  'externalId',
  'employeeNumber',
  'type',
  'department',
] as const;

const ENTERPRISE = FULL_USER[1].id;

/**
 * Returns the desired state of a SCIM user. It always contains every attribute, so it depends only on the resource. An
 * attribute that the resource lacks is empty. An empty attribute matches no person. The exception is `active`: if the
 * resource has no `active`, the change has no `active`. Otherwise the change could reactivate an account.
 */
function userChange({ id, attributes }: ScimResource): DirectoryChange {
  const userName = text(attributes['userName']);
  const [email = addressIn(userName) ?? '', ...others] = emailsOf(attributes['emails']);
  const facts = new Map<string, string>([
    ['userName', userName],
    ['email', email],
    [OTHER_EMAILS, listed(others)],
    ['externalId', text(attributes['externalId'])],
    ['employeeNumber', text(extension(attributes)['employeeNumber'])],
    ['type', text(attributes['userType'])],
    ['department', text(extension(attributes)['department'])],
  ]);
  const { active } = attributes;
  if (active !== undefined) facts.set(ACTIVE_ATTRIBUTE, active === false ? 'false' : 'true');
  return { kind: 'user.upserted', user: { id: memberId(id), attributes: facts } };
}

/**
 * Returns two changes: the deletion of a user, and the erasure of its data. The deletion ends earlier memberships. The
 * erasure also deactivates the account, because a late or concurrent request may still record a membership. The account
 * stays inactive forever, because no other user gets its id.
 */
export function userEnd({ id }: ScimResource): readonly DirectoryChange[] {
  const user = memberId(id);
  const attributes = new Map(STORED_ATTRIBUTES.map((name): [string, string] => [name, '']));
  attributes.set(ACTIVE_ATTRIBUTE, 'false');
  return [
    { kind: 'user.deleted', user },
    { kind: 'user.upserted', user: { id: user, attributes } },
  ];
}

export const isEnded = ({ floor, attributes }: UserState): boolean =>
  floor !== STAMP_ZERO && !isActive(attributes);

const extension = (attributes: ScimObject): ScimObject => {
  const held = attributes[ENTERPRISE];
  return isObject(held) ? held : {};
};

const text = (value: ScimValue | undefined): string => (typeof value === 'string' ? value : '');

/**
 * Returns all addresses without the spaces around them, and without empty entries. The primary address comes first. If
 * there is no primary address, the work address comes first. Without both, the order stays.
 */
function emailsOf(emails: ScimValue | undefined): readonly string[] {
  const addresses = elements(emails)
    .filter(isObject)
    .filter(({ value }) => visibleText(text(value)) !== '');
  const chosen =
    addresses.find(({ primary }) => primary === true) ??
    addresses.find(({ type }) => typeof type === 'string' && type.toLowerCase() === 'work') ??
    addresses[0];
  const inOrder = chosen === undefined ? [] : [chosen, ...addresses.filter((one) => one !== chosen)];
  return [...new Set(inOrder.map(({ value }) => visibleText(text(value))))];
}

/** Joins the addresses in order, as many as fit into one attribute. */
function listed(addresses: readonly string[]): string {
  const plain = addresses.filter((address) => !/\s/.test(address));
  return plain.reduce((list, address) => {
    const longer = list === '' ? address : `${list} ${address}`;
    return Buffer.byteLength(OTHER_EMAILS) + Buffer.byteLength(longer) > MAX_ATTRIBUTE_BYTES ? list : longer;
  }, '');
}

/** Returns the next revision for a change that clients see. Its registers are not written yet. */
export function nextRevision(before: ScimResource, nowMs: number): ScimResource {
  const revision = before.revision + 1;
  const modifiedMs = Math.max(nowMs, before.modifiedMs);
  return { ...before, revision, version: revision, modifiedMs, changedMs: modifiedMs, settled: false };
}

/**
 * Returns the next revision for a request without a visible change (RFC 7644 section 3.5.2.1: "the modify timestamp
 * shall not change"). The request still records the desired state again, with the stamps of this revision. The reason
 * is that a crash may have interrupted an earlier write.
 */
export const idleRevision = (before: ScimResource, nowMs: number): ScimResource => ({
  ...nextRevision(before, nowMs),
  version: before.version,
  changedMs: before.changedMs,
});

/** The maximum number of attempts of a write. More conflicts on one resource point to a defect. */
export const MAX_RACES = 50;

export interface MemberWrite {
  readonly id: string;
  readonly revision: ScimResource;
}

/**
 * Begins a write of a group's members that no client requested for this group. An example is the deletion of a user.
 * @returns an empty list if the group is not a live SCIM resource
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
