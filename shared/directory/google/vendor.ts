import type { DirectoryOf } from '../../contract/settings.ts';
import { DirectoryError, type DirectoryStep } from '../../sync/ports/directory.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { attempt, firstOf, stepOf, unlessMissing, withDetail } from '../steps.ts';
import type { ReadSecret, Vendor } from '../vendor.ts';
import { type Api, createApi } from './api.ts';
import { changesSince, cursorAt } from './changes.ts';
import { type Credential, type Federation, federatedCredential, keyCredential } from './credential.ts';
import {
  createGoogleDirectory,
  findUser,
  type GoogleOptions,
  groupPages,
  memberPages,
  SCOPES,
} from './directory.ts';
import { hostsOf } from './hosts.ts';
import { ServiceAccountKey } from './schemas.ts';
import { claimsOf, createAccessTokens, type SignInOptions } from './sign-in.ts';

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
): Promise<Credential> {
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
async function whatIsCounted(api: Api): Promise<string> {
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

async function listedCounts(api: Api, group: string) {
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

async function examineCredential(
  options: SignInOptions,
  world: DirectoryWorld,
): Promise<readonly DirectoryStep[]> {
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

type Call = (api: Api, options: GoogleOptions, world: DirectoryWorld) => Promise<unknown>;

/** For each right, a call that needs it. Only the first page of groups or members is read, but all recent reports. */
const CALLS: Readonly<Record<keyof typeof SCOPES, Call>> = {
  groups: (api) => firstOf(groupPages(api)),
  // The administrator is not a group, but the API checks the right to list members before it searches for the group.
  members: (api, { administrator }) => unlessMissing(() => firstOf(memberPages(api, administrator))),
  users: (api, { administrator }) => findUser(api, administrator),
  reports: (api, _, world) => changesSince(api, cursorAt(world.clock()), world.clock()),
};
