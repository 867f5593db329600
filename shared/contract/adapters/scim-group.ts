import * as z from 'zod';
import { groupId } from '../../domain/ids.ts';
import { GroupName, Identifier } from '../events/fields.ts';
import { type Adapter, invalid, invalidBy } from './reading.ts';
import { GROUP_SCHEMA, namesSchema, ScimMembers, scimPlace } from './scim-fields.ts';

const GroupResource = z.lazy(() =>
  z.object({
    ...scimPlace(),
    id: Identifier.nullish(),
    externalId: Identifier.nullish(),
    displayName: GroupName.nullish(),
    members: ScimMembers.nullish(),
  }),
);

/**
 * A whole SCIM Group (RFC 7643 section 4.2). With `members` it is a snapshot; without, it only names the group: what
 * is not there empties nothing, and null counts as not there. Its id is the resource's, the same in every message: the
 * message's own id tells two of one time apart.
 */
export const readScimGroup: Adapter = (value) => {
  if (!namesSchema(value, GROUP_SCHEMA)) return undefined;
  const parsed = GroupResource.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  const { id, externalId, displayName: name, members, ...place } = parsed.data;
  const stableId = externalId ?? id;
  if (stableId == null) return invalid('externalId: expected it or id, got neither');
  const group = groupId(stableId);
  const common = { kind: 'changes', source: 'scim', ...place } as const;
  if (members != null) {
    return {
      ...common,
      changes: [{ kind: 'group.snapshot', group, ...(name != null && { name }), members }],
    };
  }
  if (name == null) return invalid('displayName: expected it or members, got neither');
  return { ...common, changes: [{ kind: 'group.upserted', group, name }] };
};
