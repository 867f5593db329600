import type { IndexedValue, ScimResource } from '../ports.ts';
import { ScimError } from '../protocol/errors.ts';
import { type TypeName, UNIQUE_ATTRIBUTE } from '../protocol/resource-type.ts';
import { type ScimContext, uniqueValue } from './context.ts';
import { record, userEnd } from './record.ts';

/*
 * Each write changes a single item. The following order of writes keeps names unique:
 *
 *     new resource   claim the value ──▶ save the resource under its new id
 *     new name       claim the value ──▶ save the resource ──▶ check that it still holds the claim ──▶ release the old value
 *
 * The holder of a claim is the resource for which a request claimed the value. Another request may take over the claim
 * if the holder does not exist or does not have the value. The first request has then died, or has not saved the holder
 * yet:
 *
 *     the holder does not exist              its id is blocked first, so the first request cannot save it
 *     the holder exists under another name   the first request checks its claim after the save, and restores the name
 */

const hasValue = (resource: ScimResource | undefined, value: IndexedValue): boolean =>
  resource?.state === 'live' && uniqueValue(resource)?.value === value.value;

/** Whether the item only blocks its id, so that no resource can be saved under this id. */
export const isBlocked = ({ state, revision }: ScimResource): boolean =>
  state === 'deleting' && revision === 0;

/** @throws ScimError uniqueness */
export async function claimUnique(resource: ScimResource, context: ScimContext): Promise<void> {
  const { ports, connection } = context;
  const unique = uniqueValue(resource);
  if (unique === undefined) return;
  const claim = (from?: string) => ports.scim.claim(connection, unique, resource.id, from);
  // Almost all values are free. So the holder is read only if the claim fails.
  if (await claim()) return;
  const holder = await freeHolder(unique, resource, context);
  if (!(await claim(holder))) throw uniquenessError(resource.type, await claimHolder(resource, context));
  if (holder === undefined || holder === resource.id || !(await isHeldBy(holder, unique, context))) return;
  // The holder may have saved its resource and verified its claim before the claim moved. So the holder gets the claim
  // back.
  await ports.scim.claim(connection, unique, holder, resource.id);
  throw uniquenessError(resource.type, holder);
}

async function isHeldBy(id: string, value: IndexedValue, { ports, connection }: ScimContext) {
  const [found] = await ports.scim.read(connection, value.type, [id]);
  return hasValue(found, value);
}

/**
 * Returns the holder of a claim that the resource may take over. The holder is the resource itself, or does not have
 * the value. If the holder does not exist, its id is blocked, so that no request can save it later.
 * @throws ScimError uniqueness if the holder has the value
 */
async function freeHolder(value: IndexedValue, resource: ScimResource, context: ScimContext) {
  const { ports, connection } = context;
  const holder = await ports.scim.holder(connection, value);
  if (holder === undefined || holder === resource.id) return holder;
  const [found] = await ports.scim.read(connection, value.type, [holder]);
  const isFree = found === undefined ? await block(holder, value, context) : !hasValue(found, value);
  if (!isFree) throw uniquenessError(value.type, holder);
  return holder;
}

/** @returns false if the holder has saved its resource in the meantime, and has the value */
async function block(id: string, value: IndexedValue, context: ScimContext): Promise<boolean> {
  const { ports, connection } = context;
  const blocked = await ports.scim.block(connection, { type: value.type, id }, ports.clock());
  if (blocked === undefined) return !(await isHeldBy(id, value, context));
  await eraseBlocked(blocked, context);
  return true;
}

/**
 * Erases the desired state of a user whose id was blocked. A request records a user in the desired state before it
 * saves the resource, so this state may exist.
 */
export async function eraseBlocked(blocked: ScimResource, context: ScimContext): Promise<void> {
  if (blocked.type !== 'User') return;
  const changes = userEnd(blocked).map((change) => ({ by: blocked, change }));
  await record(changes, context);
}

export function uniquenessError(type: TypeName, holder: string | undefined): ScimError {
  const who = holder === undefined ? '' : `; the ${type} with the id ${holder} has it`;
  return new ScimError(409, `${UNIQUE_ATTRIBUTE[type]}: expected a value that no other ${type} has${who}`, {
    scimType: 'uniqueness',
  });
}

/** Returns the id of the resource that holds the claim of this resource's unique value. */
export async function claimHolder(resource: ScimResource, { ports, connection }: ScimContext) {
  const value = uniqueValue(resource);
  return value && ports.scim.holder(connection, value);
}
