import type { DirectoryOf } from '../../../contract/directory-settings.ts';
import { DirectoryError, type DirectoryStep } from '../../ports.ts';
import type { DirectoryWorld } from '../exchange.ts';
import { attempt, firstOf, stepOf, unlessMissing } from '../steps.ts';
import type { ReadSecret, Vendor } from '../vendor.ts';
import { accessTokenAuthorization, apiTokenAuthorization, createApi, type OktaApi } from './api.ts';
import { createOktaDirectory, groupPages, memberPages, SCOPES, tryUsers } from './directory.ts';
import { createIds } from './ids.ts';
import { firstPoll, readPage } from './log.ts';
import { createRateLimits } from './rate-limits.ts';
import { ApiToken, PrivateJwk } from './schemas.ts';
import { claimsOf, createSignIn, keySigner, kmsSigner, type Signer, type SignIn } from './sign-in.ts';

export const okta: Vendor<'okta'> = {
  async open(setting, readSecret, world) {
    const { orgUrl } = setting;
    const credential = await credentialOf(setting, readSecret, world);
    const limits = createRateLimits(world);
    const scopes = Object.values(SCOPES);
    const authorization =
      'apiToken' in credential
        ? apiTokenAuthorization(credential.apiToken)
        : accessTokenAuthorization(
            createSignIn({ ...credential, orgUrl, scopes, newId: createIds(world) }, world, limits),
          );
    return createOktaDirectory({ orgUrl, authorization, limits }, world);
  },

  async examine(setting, readSecret, world) {
    const credential = await credentialOf(setting, readSecret, world);
    return examineOkta(setting.orgUrl, credential, world);
  },
};

/** @throws DirectoryError `denied` if the secret has the wrong form. The message does not show the secret */
async function credentialOf(
  { clientId, keyArn }: DirectoryOf<'okta'>,
  readSecret: ReadSecret,
  world: DirectoryWorld,
): Promise<OktaCredential> {
  if (clientId === undefined) {
    const { data } = ApiToken.safeParse(await readSecret());
    if (data !== undefined) return data;
    throw new DirectoryError('denied', 'expected a stored secret with the field apiToken');
  }
  const application = (signer: Signer, isKms: boolean): Application => ({ clientId, signer, isKms });
  if (keyArn !== undefined) return application(kmsSigner(keyArn, world), true);
  const { data } = PrivateJwk.safeParse(await readSecret());
  if (data !== undefined) return application(keySigner(data), false);
  throw new DirectoryError('denied', 'expected the private key as JWK, with the fields kty, kid and d');
}

interface Application {
  readonly clientId: string;
  readonly signer: Signer;
  readonly isKms: boolean;
}

type OktaCredential = Application | { readonly apiToken: string };

const RIGHTS = ['groups', 'members', 'users', 'reports'] as const;
type Right = (typeof RIGHTS)[number];

/** The scope for groups also allows reading members. */
const SCOPE_OF: Readonly<Record<Right, string>> = { ...SCOPES, members: SCOPES.groups };

/** For each right, the calls that need this right. Only the first page of a list is read. */
const CALLS: Readonly<Record<Right, (api: OktaApi, nowMs: number) => Promise<unknown>>> = {
  groups: (api) => firstOf(groupPages(api)),
  async members(api) {
    const [group] = (await firstOf(groupPages(api)))?.items ?? [];
    return group && unlessMissing(() => firstOf(memberPages(api, group.id)));
  },
  users: tryUsers,
  reports: (api, nowMs) => readPage(api, firstPoll(nowMs, nowMs)),
};

/**
 * Tries each step of reading an organisation: the signature, the sign-in, and then each right. The token for each right
 * has only the scope of this right, so the result shows which scope is not granted. An API token has no scopes and no
 * sign-in, so its step `credential` always succeeds.
 */
async function examineOkta(
  orgUrl: string,
  credential: OktaCredential,
  world: DirectoryWorld,
): Promise<readonly DirectoryStep[]> {
  const limits = createRateLimits(world);
  if ('apiToken' in credential) {
    const api = createApi(
      { orgUrl, authorization: apiTokenAuthorization(credential.apiToken), limits },
      world,
    );
    return [{ step: 'credential', failure: undefined }, ...(await examineRights(() => api, world))];
  }
  const { signer, isKms } = credential;
  const application = { ...credential, orgUrl, newId: createIds(world) };
  const signing = await attempt(() => signer.sign(claimsOf(application, world.clock())));
  const signed = stepOf(isKms ? 'signature' : 'credential', signing);
  if (signed.failure !== undefined) return [signed];
  const signIns = new Map(
    RIGHTS.map((right) => {
      const options = { ...application, scopes: [SCOPE_OF[right]] };
      return [right, createSignIn(options, world, limits)] as const;
    }),
  );
  const entered = await signInOnce([...signIns.values()]);
  if (entered.failure !== undefined) return [signed, entered];
  const apiOf = (right: Right) => {
    const authorization = accessTokenAuthorization(signIns.get(right) as SignIn);
    return createApi({ orgUrl, authorization, limits }, world);
  };
  return [signed, entered, ...(await examineRights(apiOf, world))];
}

/** The step of the sign-in succeeds if Okta grants at least one scope. */
async function signInOnce(signIns: readonly SignIn[]): Promise<DirectoryStep> {
  const outcomes = await Promise.all(signIns.map((signIn) => attempt(() => signIn.current())));
  const [first = { value: undefined }] = outcomes;
  return stepOf('token exchange', outcomes.find((outcome) => 'value' in outcome) ?? first);
}

const examineRights = (apiOf: (right: Right) => OktaApi, world: DirectoryWorld) =>
  Promise.all(
    RIGHTS.map(async (right) =>
      stepOf(right, await attempt(() => CALLS[right](apiOf(right), world.clock()))),
    ),
  );
