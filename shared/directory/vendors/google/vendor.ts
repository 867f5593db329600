import type * as z from 'zod';
import type { DirectoryOf } from '../../../contract/directory-settings.ts';
import { CUSTOM_PREFIX } from '../../../contract/exclusion.ts';
import { groupId, type MemberId, memberId } from '../../../domain/ids.ts';
import { once } from '../../../domain/once.ts';
import {
  type Directory,
  DirectoryError,
  type DirectoryGroup,
  type DirectoryMember,
  type DirectoryPage,
  type DirectoryStep,
  type DirectoryUser,
} from '../../ports.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { namedValues } from '../named-attributes.ts';
import { attempt, firstOf, stepOf, unlessMissing, withDetail } from '../steps.ts';
import type { ReadSecret, Vendor } from '../vendor.ts';
import { createApi, type GoogleApi } from './api.ts';
import { changesSince, cursorAt } from './changes.ts';
import {
  claimsOf,
  createAccessTokens,
  type Federation,
  federatedCredential,
  type GoogleCredential,
  keyCredential,
  type SignInOptions,
} from './credential.ts';
import { hostsOf } from './hosts.ts';
import { Group, listOf, Member, ServiceAccountKey, User } from './schemas.ts';

interface GoogleOptions {
  readonly credential: GoogleCredential;
  /** Address of the administrator on whose behalf the service account reads. */
  readonly administrator: string;
  /** Base URL of another host with the same API, such as a simulator. undefined means Google. */
  readonly baseUrl?: string | undefined;
}

const AUTH = 'https://www.googleapis.com/auth/';
/** The smallest scopes that read groups, members, users and logs. */
const SCOPES = {
  groups: `${AUTH}admin.directory.group.readonly`,
  members: `${AUTH}admin.directory.group.member.readonly`,
  users: `${AUTH}admin.directory.user.readonly`,
  reports: `${AUTH}admin.reports.audit.readonly`,
} as const;

/** The largest page of users (`users.list`: maxResults). */
const MAX_USERS = '500';
/** The largest page of groups and of members (`groups.list`, `members.list`: maxResults). */
const MAX_PAGE = '200';
const GROUPS = ['admin', 'directory', 'v1', 'groups'];
const USERS = ['admin', 'directory', 'v1', 'users'];

/** Returns the custom schemas of the attributes that the settings name, as `Schema.Field`. */
const schemasOf = ({ attributes }: GoogleApi): readonly string[] => [
  ...new Set(attributes.flatMap((one) => (isOfSchema(one) ? (one.split('.')[1] ?? []) : []))),
];

/** Returns the parameters for custom fields. Without them, Google shows all other fields (`projection=basic`). */
const projection = (api: GoogleApi): Readonly<Record<string, string>> => {
  const customFieldMask = schemasOf(api).join(',');
  return customFieldMask === '' ? {} : { projection: 'custom', customFieldMask };
};

const GroupPage = listOf('admin#directory#groups', 'groups', Group);
const MemberPage = listOf('admin#directory#members', 'members', Member);
const UserPage = listOf('admin#directory#users', 'users', User);

export function createGoogleDirectory(options: GoogleOptions, world: DirectoryWorld): Directory {
  const { credential, administrator, baseUrl } = options;
  const hosts = hostsOf(baseUrl);
  const signIn = { credential, administrator, tokenUrl: hosts.token, scopes: Object.values(SCOPES) };
  const api = createApi(hosts.api, createAccessTokens(signIn, world), world);
  const users = once(() => allUsers(api));
  return {
    groups: () => groupPages(api),
    membersOf: (group) => describedPages(api, memberPages(api, group), users),
    group: (groupKey) =>
      unlessMissing(async () => {
        const { body } = await api({ operation: 'groups.get', path: [...GROUPS, groupKey], body: Group });
        return groupOf(body);
      }),
    async hasMember(groupKey, memberKey) {
      const path = [...GROUPS, groupKey, 'members', memberKey];
      const member = await unlessMissing(() => api({ operation: 'members.get', path, body: Member }));
      return member !== undefined;
    },
    user: (userKey) => findUser(api, userKey),
    deletedUsers: () => deletedUserPages(api),
    tryUsers: async () => void (await findUser(api, administrator)),
    changesSince: (cursor) => changesSince(api, cursor, world.clock()),
    cursorAt: async (nowMs) => cursorAt(nowMs),
    lagMs: 0,
  };
}

const findUser = (api: GoogleApi, userKey: string): Promise<DirectoryUser | undefined> =>
  unlessMissing(async () => {
    const path = [...USERS, userKey];
    const { body } = await api({ operation: 'users.get', path, query: projection(api), body: User });
    return userOf(body, api);
  });

const groupPages = (api: GoogleApi) =>
  api.pages('groups.list', async (pageToken) => {
    const query = { customer: 'my_customer', maxResults: MAX_PAGE, pageToken };
    const { body, asOfMs } = await api({ operation: 'groups.list', path: GROUPS, query, body: GroupPage });
    return { items: body.items.map(groupOf), next: body.next, asOfMs };
  });

const memberPages = (api: GoogleApi, group: string) =>
  api.pages('members.list', async (pageToken) => {
    const path = [...GROUPS, group, 'members'];
    const query = { maxResults: MAX_PAGE, pageToken };
    const { body, asOfMs } = await api({ operation: 'members.list', path, query, body: MemberPage });
    return { items: body.items.map(memberOf), next: body.next, asOfMs };
  });

/** Lists the users, or the users who were deleted in the last 20 days ("Manage users", retrieve deleted users). */
const userPages = (api: GoogleApi, showDeleted: 'true' | 'false') =>
  api.pages('users.list', async (pageToken) => {
    const all = { customer: 'my_customer', showDeleted, maxResults: MAX_USERS, pageToken };
    const query = { ...all, ...projection(api) };
    const { body, asOfMs } = await api({ operation: 'users.list', path: USERS, query, body: UserPage });
    return { items: body.items.map((user) => userOf(user, api)), next: body.next, asOfMs };
  });

async function* deletedUserPages(api: GoogleApi): AsyncGenerator<DirectoryPage<DirectoryUser>> {
  for await (const { items, asOfMs } of userPages(api, 'true'))
    yield { items: items.map((user) => ({ ...user, isActive: false })), asOfMs };
}

/** Returns the attributes of all users. A run that reads members with named attributes needs this list once. */
async function allUsers(api: GoogleApi) {
  const attributes = new Map<MemberId, DirectoryUser['attributes']>();
  let asOfMs = Number.POSITIVE_INFINITY;
  for await (const page of userPages(api, 'false')) {
    asOfMs = Math.min(asOfMs, page.asOfMs);
    for (const user of page.items) attributes.set(user.id, user.attributes);
  }
  return { attributes, asOfMs };
}

/** Adds the attributes that the settings name. Lists of members do not have them. */
async function* describedPages(
  api: GoogleApi,
  pages: AsyncIterable<DirectoryPage<DirectoryMember>>,
  users: () => ReturnType<typeof allUsers>,
): AsyncGenerator<DirectoryPage<DirectoryMember>> {
  if (api.attributes.length === 0) return yield* pages;
  const { attributes, asOfMs } = await users();
  for await (const page of pages) {
    const items = page.items.map((one) =>
      one.kind === 'user' ? { ...one, user: described(one.user, attributes) } : one,
    );
    yield { items, asOfMs: Math.min(asOfMs, page.asOfMs) };
  }
}

const described = (user: DirectoryUser, attributes: ReadonlyMap<MemberId, DirectoryUser['attributes']>) => ({
  ...user,
  attributes: new Map([...(attributes.get(user.id) ?? []), ...user.attributes]),
});

function groupOf({ id, email, name, directMembersCount = '' }: z.infer<typeof Group>): DirectoryGroup {
  const userCount = /^\d{1,15}$/.test(directMembersCount) ? Number(directMembersCount) : undefined;
  return { id: groupId(id), name: name === '' ? email : name, address: email, userCount };
}

/** Members with one of these statuses cannot sign in. Members of other companies have no status. */
const INACTIVE_STATUSES = new Set(['SUSPENDED', 'ARCHIVED']);

function memberOf({ id, type, email, status = '' }: z.infer<typeof Member>): DirectoryMember {
  if (type === 'GROUP') return { kind: 'group', id: groupId(id), address: email };
  if (type === 'CUSTOMER') return { kind: 'everyone' };
  if (type !== 'USER') {
    throw new DirectoryError('invalid', 'members.list: type: expected USER, GROUP or CUSTOMER');
  }
  const isActive = !INACTIVE_STATUSES.has(status);
  const user = { id: memberId(id), attributes: attributesOf(email), isActive };
  return { kind: 'user', user: status === '' ? { ...user, isExternal: true } : user };
}

const userOf = (user: z.infer<typeof User>, { attributes }: GoogleApi): DirectoryUser => ({
  id: memberId(user.id),
  attributes: new Map([
    ...attributesOf(user.primaryEmail),
    ...namedValues(attributes, (attribute) => fieldOf(user, attribute)),
  ]),
  isActive: !user.suspended && !user.archived,
});

const EXTERNAL_ID = `${CUSTOM_PREFIX}externalIds.`;
/** Whether an attribute is a field of a custom schema: `custom.Schema.Field`. */
const isOfSchema = (attribute: string): boolean =>
  attribute.startsWith(CUSTOM_PREFIX) && !attribute.startsWith(EXTERNAL_ID);

/** Returns the value of an attribute. The admin console shows the external id `organization` as the employee id. */
function fieldOf(user: z.infer<typeof User>, attribute: string): unknown {
  const { name, externalIds, organizations, customSchemas } = user;
  const work = organizations.find(({ primary }) => primary) ?? organizations[0];
  const idOf = (kind: string) =>
    externalIds.find(({ type, customType }) => (type === 'custom' ? customType : type) === kind)?.value;
  if (attribute === 'name') return name?.fullName;
  if (attribute === 'employeeNumber') return idOf('organization');
  if (attribute === 'department') return work?.department;
  if (attribute === 'type') return work?.description;
  if (attribute.startsWith(EXTERNAL_ID)) return idOf(attribute.slice(EXTERNAL_ID.length));
  const [, schema = '', ...field] = attribute.split('.');
  const value = customSchemas[schema]?.[field.join('.')];
  return Array.isArray(value) ? value.map((one) => one?.value) : value;
}

/** The primary address of a Google account is its login. */
const attributesOf = (email = ''): ReadonlyMap<string, string> =>
  new Map(
    email === ''
      ? []
      : [
          ['email', email],
          ['userName', email],
        ],
  );

export const google: Vendor<'google'> = {
  async open(setting, readSecret, world) {
    const credential = await credentialOf(setting, readSecret, world);
    return createGoogleDirectory({ ...setting, credential }, world);
  },

  async examine(setting, readSecret, world) {
    const credential = await credentialOf(setting, readSecret, world);
    return examineGoogle({ ...setting, credential }, world);
  },
};

async function credentialOf(
  { federation, baseUrl }: DirectoryOf<'google'>,
  readSecret: ReadSecret,
  world: DirectoryWorld,
): Promise<GoogleCredential> {
  if (federation !== undefined) {
    const { sts: stsUrl, iam: iamUrl } = hostsOf(baseUrl);
    return federatedCredential({ ...federation, stsUrl, iamUrl }, world);
  }
  const parsed = ServiceAccountKey.safeParse(await readSecret());
  if (parsed.success) return keyCredential(parsed.data);
  const fields = 'type, client_email, private_key_id and private_key';
  throw new DirectoryError('denied', `expected the key file of a service account with ${fields}`);
}

/**
 * Tries each step of reading a Google directory: the credential, the administrator, and then each right. The
 * access token for each right has only the scope of this right, so the result shows which scope is not delegated.
 */
export async function examineGoogle(
  options: GoogleOptions,
  world: DirectoryWorld,
): Promise<readonly DirectoryStep[]> {
  const { token: tokenUrl, api: apiUrl } = hostsOf(options.baseUrl);
  const signIn = { ...options, tokenUrl, scopes: Object.values(SCOPES) };
  const signed = await examineCredential(signIn, world);
  if (signed.some(({ failure }) => failure !== undefined)) return signed;
  const rights = Object.entries(SCOPES).map(([right, scope]) => {
    const tokens = createAccessTokens({ ...signIn, scopes: [scope] }, world);
    return { right: right as keyof typeof SCOPES, tokens, api: createApi(apiUrl, tokens, world) };
  });
  const outcomes = await Promise.all(rights.map(({ tokens }) => attempt(() => tokens.current())));
  const refused = outcomes.filter((outcome) => 'failure' in outcome);
  const [first] = refused;
  if (first !== undefined && refused.length === rights.length)
    return [...signed, stepOf('administrator', first)];
  const steps = rights.map(async ({ right, api }, at) => {
    const token = outcomes[at];
    const isRefused = token !== undefined && 'failure' in token;
    return stepOf(right, isRefused ? token : await attempt(() => CALLS[right](api, options, world)));
  });
  const tried = await Promise.all(steps);
  const examined = [...signed, { step: 'administrator', failure: undefined } as const, ...tried];
  if (tried.some(({ failure }) => failure !== undefined)) return examined;
  const compared = await attempt(() =>
    whatIsCounted(createApi(apiUrl, createAccessTokens(signIn, world), world)),
  );
  const members = stepOf('members', compared);
  const shown = 'value' in compared ? withDetail(members, `works; ${compared.value}`) : members;
  return examined.map((one) => (one.step === 'members' ? shown : one));
}

/** Maximum number of compared groups, and maximum count of a compared group. They limit the number of calls. */
const MAX_COMPARED = 20;
const MAX_COUNT = 200;

/** Returns what `directMembersCount` includes. A group with users and groups among its members shows it. */
async function whatIsCounted(api: GoogleApi): Promise<string> {
  const groups = (await firstOf(groupPages(api)))?.items ?? [];
  const comparable = groups.filter(({ userCount = 0 }) => userCount > 0 && userCount <= MAX_COUNT);
  for (const { id, userCount } of comparable.slice(0, MAX_COMPARED)) {
    const { users, members } = await listedCounts(api, id);
    if (users === members) continue;
    if (userCount === users) return `directMembersCount of group ${id} includes only users`;
    if (userCount === members) return `directMembersCount of group ${id} includes users and groups`;
  }
  return `unknown whether directMembersCount includes groups: none of the first ${MAX_COMPARED} groups with a count shows it`;
}

async function listedCounts(api: GoogleApi, group: string) {
  const users = new Set<string>();
  const groups = new Set<string>();
  for await (const { items } of memberPages(api, group)) {
    for (const member of items) {
      if (member.kind === 'user') users.add(member.user.id);
      if (member.kind === 'group') groups.add(member.id);
    }
  }
  return { users: users.size, members: users.size + groups.size };
}

async function examineCredential(options: SignInOptions, world: DirectoryWorld) {
  const { credential } = options;
  const claims = claimsOf(options, world.clock());
  if (!isFederation(credential)) return [stepOf('credential', await attempt(() => credential.sign(claims)))];
  const identity = await attempt(() => credential.webIdentity());
  const first = stepOf('web identity', identity);
  if ('failure' in identity) return [first];
  const exchanged = await attempt(() => credential.exchangeToken(identity.value));
  const second = stepOf('token exchange', exchanged);
  if ('failure' in exchanged) return [first, second];
  const signed = await attempt(() => credential.signWith(exchanged.value, claims));
  return [first, second, stepOf('signature', signed)];
}

const isFederation = (credential: SignInOptions['credential']): credential is Federation =>
  'webIdentity' in credential;

type Call = (api: GoogleApi, options: GoogleOptions, world: DirectoryWorld) => Promise<unknown>;

/** For each right, a call that needs it. Only the first page of groups or members is read, but all recent reports. */
const CALLS: Readonly<Record<keyof typeof SCOPES, Call>> = {
  groups: (api) => firstOf(groupPages(api)),
  // The administrator is not a group, but the API checks the right to list members before it searches for the group.
  members: (api, { administrator }) => unlessMissing(() => firstOf(memberPages(api, administrator))),
  users: (api, { administrator }) => findUser(api, administrator),
  reports: (api, _, world) => changesSince(api, cursorAt(world.clock()), world.clock()),
};
