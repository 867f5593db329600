import { STAMP_ZERO } from '../../domain/stamp.ts';
import type { ScimResource } from '../ports.ts';
import type { TypeName } from '../protocol/resource-type.ts';
import type { ScimObject } from '../protocol/value.ts';
import { claimHolder, claimUnique, eraseBlocked, isBlocked, uniquenessError } from './claims.ts';
import { pointAt, type ScimContext, unindex } from './context.ts';
import { GROUP_ID_MARK } from './nesting.ts';
import { recordNewUser } from './record.ts';
import { finishWrite } from './resources.ts';

/** Returns a new id. Ids sort by creation time. A group's id begins with `GROUP_ID_MARK`. */
export const newResourceId = (type: TypeName, { ports }: ScimContext): string =>
  `${type === 'Group' ? GROUP_ID_MARK : ''}${ports.newId()}`;

/**
 * Creates a user. The attributes are recorded in the desired state before the resource is saved. So if the save
 * succeeds, the user is complete.
 * @throws ScimError uniqueness
 */
export async function createUserResource(attributes: ScimObject, context: ScimContext) {
  await context.admitted;
  const user = firstRevision({ type: 'User', id: newResourceId('User', context), attributes }, context);
  await saveNew({ ...user, settled: true }, context, () => recordNewUser(user, context));
  return user;
}

/**
 * Creates a group.
 * @param prepare writes the data that must exist before the group can be read
 * @throws ScimError uniqueness
 */
export async function createGroupResource(
  { id, attributes }: Pick<ScimResource, 'id' | 'attributes'>,
  context: ScimContext,
  prepare: (group: ScimResource) => Promise<void>,
): Promise<ScimResource> {
  await context.admitted;
  const group = firstRevision({ type: 'Group', id, attributes }, context);
  await saveNew(group, context, () => prepare(group));
  await finishWrite(group, context);
  return group;
}

function firstRevision(
  given: Pick<ScimResource, 'type' | 'id' | 'attributes'>,
  { ports, actor }: ScimContext,
): ScimResource {
  const nowMs = ports.clock();
  return {
    ...given,
    revision: 1,
    version: 1,
    createdMs: nowMs,
    modifiedMs: nowMs,
    changedMs: nowMs,
    state: 'live',
    settled: false,
    writes: new Map(),
    replacements: new Map(),
    listedAt: STAMP_ZERO,
    sentBy: actor.id,
  };
}

/** @throws ScimError uniqueness */
async function saveNew(resource: ScimResource, context: ScimContext, prepare: () => Promise<void>) {
  const { ports, connection } = context;
  await claimUnique(resource, context);
  await Promise.all([pointAt(resource, context), prepare()]);
  if (!(await ports.scim.save(connection, resource, undefined))) {
    const [found] = await ports.scim.read(connection, resource.type, [resource.id]);
    if (found === undefined || !isBlocked(found)) throw new Error('expected an unused id, got a used id');
    await unindex(resource, undefined, context);
    await eraseBlocked(found, context);
    throw uniquenessError(resource.type, await claimHolder(resource, context));
  }
}
