import type { DirectoryChange } from '../../domain/event.ts';
import { groupId } from '../../domain/ids.ts';
import { namesVersion } from '../../scim/document.ts';
import { ScimError } from '../../scim/errors.ts';
import type { ResourceType } from '../../scim/resource-type.ts';
import { isSameValue, type ScimObject } from '../../scim/value.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { finishEnding } from './ending.ts';
import { indexResource, isIndexedAlike, unindex, verifyClaim } from './indexing.ts';
import { GROUP_ID_MARK } from './membership.ts';
import { idleRevision, MAX_RACES, nextRevision, record } from './record.ts';
import { userChange } from './user-facts.ts';

/** What a resource says to desired state, its members aside. */
export function factsOf(resource: ScimResource): DirectoryChange {
  if (resource.type === 'User') return userChange(resource);
  return {
    kind: 'group.upserted',
    group: groupId(resource.id),
    name: String(resource.attributes['displayName']),
  };
}

/**
 * The resource, consistently read. One that a crash left unsettled is mended on the way.
 * @throws ScimError 404
 */
export async function findResource(
  id: string,
  type: ResourceType,
  context: ScimContext,
): Promise<ScimResource> {
  const [found] = await context.ports.scim.read(context.connection, type.name, [id]);
  const mended = found && (await mend(found, type, context));
  if (mended === undefined)
    throw new ScimError(404, `expected the id of a ${type.name}, got one that does not exist`);
  return mended;
}

/** Does what a crash left undone: registers that must follow the resource, or the rest of its deletion. */
export async function mend(
  found: ScimResource,
  type: ResourceType,
  context: ScimContext,
): Promise<ScimResource | undefined> {
  if (found.state === 'ending') {
    await finishEnding(found, type, context);
    return undefined;
  }
  if (!found.settled) {
    await context.ports.scim.noteOrder(context.connection, found.type);
    await record([{ by: found, change: factsOf(found) }], context);
    await context.ports.scim.settle(context.connection, found);
  }
  return found;
}

/**
 * A new resource, with what it means recorded.
 * @param prepare done before the resource can be seen: what must not be missing once it can
 * @throws ScimError uniqueness
 */
export async function createResource(
  attributes: ScimObject,
  type: ResourceType,
  context: ScimContext,
  prepare: (resource: ScimResource) => Promise<void> = async () => {},
): Promise<ScimResource> {
  const { ports, connection } = context;
  const nowMs = ports.clock();
  const resource: ScimResource = {
    type: type.name,
    id: `${type.name === 'Group' ? GROUP_ID_MARK : ''}${ports.newId()}`,
    attributes,
    revision: 1,
    version: 1,
    createdMs: nowMs,
    modifiedMs: nowMs,
    changedMs: nowMs,
    state: 'live',
    settled: false,
  };
  await indexResource(resource, type, context);
  await prepare(resource);
  if (!(await ports.scim.save(connection, resource, undefined))) throw new Error('a new id was not new');
  try {
    await verifyClaim(resource, type, context);
  } catch (overtaken) {
    await ports.scim.remove(connection, resource);
    throw overtaken;
  }
  await record([{ by: resource, change: factsOf(resource) }], context);
  await ports.scim.settle(connection, resource);
  return resource;
}

/** A request that changes a resource which is there already. */
export interface Change {
  readonly context: ScimContext;
  /** Header If-Match. */
  readonly ifMatch: string | undefined;
}

/** What a request changes of a resource beside its attributes. */
export interface Beside {
  readonly isChange: boolean;
  /** The revision at which there was nothing to change; undefined where that is so at any. */
  readonly seen?: number;
}

export interface Rewrite {
  readonly before: ScimResource;
  readonly after: ScimResource;
}

/**
 * Changes a resource: its next revision, with attributes computed from the current one and written only if it still is
 * that. The caller records what the change means, and settles it.
 * @throws ScimError 404, 412, 409 or what `edit` throws; then nothing has changed
 */
export async function rewriteResource(
  id: string,
  type: ResourceType,
  {
    context,
    ifMatch,
    edit,
    beside = { isChange: false },
    state = 'live',
  }: Change & {
    readonly edit: (attributes: ScimObject) => ScimObject;
    readonly beside?: Beside;
    readonly state?: ScimResource['state'];
  },
): Promise<Rewrite> {
  const { ports, connection } = context;
  for (let race = 0; race < MAX_RACES; race += 1) {
    const before = await readForChange(id, type, context);
    if (ifMatch !== undefined && !namesVersion(ifMatch, before.version)) {
      throw new ScimError(412, 'If-Match: expected the current version of the resource');
    }
    const attributes = edit(before.attributes);
    const changesMore = beside.isChange || (beside.seen ?? before.revision) !== before.revision;
    const isChange = changesMore || state !== before.state || !isSameValue(attributes, before.attributes);
    const revise = isChange ? nextRevision : idleRevision;
    const after = { ...revise(before, ports.clock()), attributes, state };
    const isIndexed = state === 'ending' || isIndexedAlike(before, after, type);
    if (!isIndexed) await indexResource(after, type, context);
    if (!(await ports.scim.save(connection, after, before))) continue;
    if (!isIndexed) await keepIfOurs({ before, after }, type, context);
    return { before, after };
  }
  throw new Error(`gave up after ${MAX_RACES} concurrent writes of one resource`);
}

/**
 * The next revision of a resource whose attributes stay as they are: one write, however many others do the same.
 * @returns undefined where only `rewriteResource` can tell what to do
 */
export async function advanceResource(
  id: string,
  type: ResourceType,
  { isChange, seen }: Beside,
  { ports, connection }: ScimContext,
): Promise<Rewrite | undefined> {
  const target = { type: type.name, id };
  const nowMs = ports.clock();
  const advanced = await ports.scim.advance(connection, target, { nowMs, isChange, seen });
  // Somebody wrote it meanwhile: what was seen says nothing any more.
  const isOvertaken = advanced === undefined && seen !== undefined;
  const after = isOvertaken
    ? await ports.scim.advance(connection, target, { nowMs, isChange: true })
    : advanced;
  return after && { before: after, after };
}

/** An unsettled one is not mended first: its next revision says all that it said. */
async function readForChange(id: string, type: ResourceType, context: ScimContext): Promise<ScimResource> {
  const [found] = await context.ports.scim.read(context.connection, type.name, [id]);
  return found?.state === 'live' ? found : findResource(id, type, context);
}

async function keepIfOurs(
  { before, after }: Rewrite,
  type: ResourceType,
  context: ScimContext,
): Promise<void> {
  try {
    await verifyClaim(after, type, context);
  } catch (overtaken) {
    const restored = { ...nextRevision(after, context.ports.clock()), attributes: before.attributes };
    await context.ports.scim.save(context.connection, restored, after);
    throw overtaken;
  }
}

/** Ends a change: registers have followed, the values that it gave up are free. */
export async function settleResource(
  { before, after }: Rewrite,
  type: ResourceType,
  context: ScimContext,
): Promise<void> {
  if (!after.settled) await context.ports.scim.settle(context.connection, after);
  await unindex(before, after, type, context);
}
