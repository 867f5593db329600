import { checkResource } from '../../scim/checks.ts';
import { applyPatch, readResource } from '../../scim/patch/apply.ts';
import { readPatch } from '../../scim/patch/operation.ts';
import type { ScimObject, ScimValue } from '../../scim/value.ts';
import type { ScimResource } from '../ports/scim.ts';
import type { ScimContext } from './context.ts';
import { record } from './record.ts';
import { type Change, createResource, factsOf, rewriteResource, settleResource } from './resources.ts';

/** A user is switched on unless its client says otherwise. */
export async function createUser(body: ScimObject, context: ScimContext): Promise<ScimResource> {
  const type = context.types.User;
  return createResource(checkResource({ active: true, ...readResource(body, type) }, type), type, context);
}

/** Everything but `active` goes that the body does not name: silence must not switch an account on again. */
export function replaceUser(id: string, body: ScimObject, change: Change): Promise<ScimResource> {
  const type = change.context.types.User;
  const given = readResource(body, type);
  return rewriteUser(id, change, ({ active }) => ({ ...(active === undefined ? {} : { active }), ...given }));
}

export function patchUser(id: string, body: ScimValue, change: Change): Promise<ScimResource> {
  const operations = readPatch(body);
  return rewriteUser(id, change, (attributes) =>
    applyPatch(attributes, operations, change.context.types.User),
  );
}

async function rewriteUser(
  id: string,
  change: Change,
  edit: (attributes: ScimObject) => ScimObject,
): Promise<ScimResource> {
  const { context } = change;
  const type = context.types.User;
  const rewrite = await rewriteResource(id, type, {
    ...change,
    edit: (attributes) => checkResource(edit(attributes), type),
  });
  await record([{ by: rewrite.after, change: factsOf(rewrite.after) }], context);
  await settleResource(rewrite, type, context);
  return rewrite.after;
}
