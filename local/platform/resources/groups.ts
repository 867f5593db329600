import { createHash } from 'node:crypto';
import * as z from 'zod';
import { isStale, NO_CONTENT, wantedContent } from '../../../simulate/platform/rules.ts';
import type { Settings } from '../controls/settings.ts';
import { type Call, endpoint } from '../endpoint.ts';
import { ApiError, badRequest, forbidden, notFound } from '../errors.ts';
import { changeGroup, createGroup, deleteGroup } from '../group-changes.ts';
import { Ok } from '../schemas/account.ts';
import { CreateGroup, type Group, ShownGroup, WriteGroup } from '../schemas/group.ts';
import { GROUP_WRITE_SCOPES, mayWrite } from '../scopes.ts';

const area = 'Groups';
const ofGroup = z.object({ groupId: z.string() });
const list = '/platform/api/groups';
const one = '/platform/api/groups/:groupId';

const listGroups = endpoint({
  method: 'GET',
  path: list,
  operationId: 'listGroups',
  area,
  summary: 'All third-party groups of the organisation',
  oauthOnly: true,
  response: z.array(ShownGroup),
  handle: (call) => Array.from(call.company.groups.values(), (group) => groupResponse(group, call)),
});

const create = endpoint({
  method: 'POST',
  path: list,
  operationId: 'createGroup',
  area,
  summary: 'Creates a group',
  description:
    'Two groups can have the same name or spokeId, because the specification does not forbid this.',
  oauthOnly: true,
  body: CreateGroup,
  response: ShownGroup,
  status: ({ createdStatus }) => createdStatus,
  handle: (call) => {
    checkScopes(call, { groups: true, members: (call.body.users ?? []).length > 0 });
    const content = wantedContent('PUT', NO_CONTENT, call.body);
    const users = checkIds(content.users, call);
    const { group, changes } = createGroup({ ...content, users }, author(call));
    call.simulation.store.commit(changes);
    return groupResponse(group, call);
  },
});

const read = endpoint({
  method: 'GET',
  path: one,
  operationId: 'readGroup',
  area,
  summary: 'One group',
  oauthOnly: true,
  params: ofGroup,
  response: ShownGroup,
  handle: (call) => groupResponse(findGroup(call), call),
});

const replace = endpoint({
  method: 'PUT',
  path: one,
  operationId: 'replaceGroup',
  area,
  summary: 'Replaces a group; fields that the body lacks become empty',
  oauthOnly: true,
  params: ofGroup,
  body: WriteGroup,
  response: ShownGroup,
  handle: (call) => write('PUT', call),
});

const patch = endpoint({
  method: 'PATCH',
  path: one,
  operationId: 'patchGroup',
  area,
  summary: 'Changes a group; fields that the body lacks keep their values',
  oauthOnly: true,
  params: ofGroup,
  body: WriteGroup,
  response: ShownGroup,
  handle: (call) => write('PATCH', call),
});

const remove = endpoint({
  method: 'DELETE',
  path: one,
  operationId: 'deleteGroup',
  area,
  summary: 'Deletes a group',
  oauthOnly: true,
  params: ofGroup,
  response: Ok,
  handle: (call) => {
    checkScopes(call, { groups: true, members: false });
    call.simulation.store.commit(deleteGroup(findGroup(call), author(call)));
    return { ok: true };
  },
});

export const groupEndpoints = [listGroups, create, read, replace, patch, remove];

function findGroup({ company, params }: Call<z.infer<typeof ofGroup>>): Group {
  const group = company.groups.get(params.groupId);
  if (group === undefined) throw notFound('group', params.groupId);
  return group;
}

type Write = Call<z.infer<typeof ofGroup>, unknown, WriteGroup>;

function write(method: 'PUT' | 'PATCH', call: Write) {
  const { users: sent, version: _, ...fields } = call.body;
  const isReplaced = method === 'PUT';
  checkScopes(call, {
    groups: isReplaced || Object.values(fields).some((value) => value !== undefined),
    members: isReplaced || sent !== undefined,
  });
  const group = findGroup(call);
  checkVersion(method, group, call);
  const { users, ...rest } = call.body;
  const body = users === undefined ? rest : { ...rest, users: checkIds(users, call) };
  const content = wantedContent(method, group, body);
  const changed = changeGroup(group, content, author(call));
  if (changed.changes.length === 0) return groupResponse(afterUnchangedWrite(group, call), call);
  call.simulation.store.commit(changed.changes);
  return groupResponse(changed.group, call);
}

/** Checks the scopes of a call. The caller does this before it reads the group, as a gateway would. */
function checkScopes({ credential }: Call, needed: { readonly groups: boolean; readonly members: boolean }) {
  for (const what of ['groups', 'members'] as const) {
    if (!needed[what] || mayWrite(what, credential.scopes)) continue;
    throw forbidden(`the token lacks the scope ${GROUP_WRITE_SCOPES[what]}`);
  }
}

/** Returns the group after a write that changes nothing. A setting decides whether the group gets a new version. */
function afterUnchangedWrite(group: Group, { company, simulation }: Write): Group {
  if (simulation.settings().keepVersionIfUnchanged) return group;
  const renewed = { ...group, version: simulation.newId() };
  simulation.store.commit([{ kind: 'group', company: company.id, group: renewed }]);
  return renewed;
}

function checkIds(users: readonly string[], { simulation }: Call): string[] {
  const filled = users.filter((id) => id !== '');
  if (filled.length === users.length || simulation.settings().dropBlankIds) return filled;
  throw badRequest(`body.users[${users.indexOf('')}]: expected an id, got an empty string`);
}

/** Checks the version in the body. The specification does not require a version, but a setting can require it. */
function checkVersion(method: 'PUT' | 'PATCH', group: Group, { body, simulation }: Write): void {
  const { requireVersion, enforceVersionOnPatch, staleVersionStatus } = simulation.settings();
  const isCompared = method === 'PUT' || enforceVersionOnPatch;
  if (isCompared && requireVersion && body.version === undefined) {
    throw badRequest('body.version: expected a version');
  }
  const version = formatVersion(group, simulation.settings());
  if (!isStale(method, { version }, body.version, enforceVersionOnPatch)) return;
  throw new ApiError(
    staleVersionStatus,
    'stale_version',
    'the group has changed since the version in the body; read the group again',
  );
}

function groupResponse(group: Group, { simulation }: Call) {
  const settings = simulation.settings();
  const spokeId = settings.echoSpokeId ? group.spokeId : null;
  return { ...group, spokeId, version: formatVersion(group, settings) };
}

/**
 * Returns the version in the format of the setting `versionForm`. Versions of different formats are never equal. The
 * number is computed from the text, so a version is the same again if the setting changes back.
 */
function formatVersion({ version }: Group, { versionForm }: Settings): string | number {
  if (versionForm === 'text') return version;
  const digest = createHash('sha256').update(version).digest();
  const number = digest.readUIntBE(0, 6);
  return versionForm === 'number' ? number : `number:9${String(digest.readBigUInt64BE(8)).padStart(20, '0')}`;
}

const author = ({ company, credential, simulation }: Call) => ({
  company,
  initiator: { type: 'EXTERNAL', role: null, displayName: credential.app } as const,
  spoke: credential.app,
  atMs: simulation.clock(),
  newId: simulation.newId,
});
