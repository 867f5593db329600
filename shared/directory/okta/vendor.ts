import type { DirectoryOf } from '../../contract/settings.ts';
import { DirectoryError } from '../../sync/ports/directory.ts';
import type { DirectoryWorld } from '../exchange.ts';
import type { ReadSecret, Vendor } from '../vendor.ts';
import { keySigner, kmsSigner, type Signer } from './assertion.ts';
import { accessTokenAuthorization, apiTokenAuthorization } from './authorization.ts';
import { createOktaDirectory, SCOPES } from './directory.ts';
import { type Application, examineOkta, type OktaCredential } from './examine.ts';
import { createIds } from './ids.ts';
import { createRateLimits } from './rate-limits.ts';
import { ApiToken, PrivateJwk } from './schemas.ts';
import { createSignIn } from './sign-in.ts';

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
    return examineOkta({ orgUrl: setting.orgUrl, credential }, world);
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
