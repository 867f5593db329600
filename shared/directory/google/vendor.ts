import type { DirectoryOf } from '../../contract/settings.ts';
import { DirectoryError } from '../../sync/ports/directory.ts';
import type { DirectoryWorld } from '../exchange.ts';
import type { ReadSecret, Vendor } from '../vendor.ts';
import { type Credential, federatedCredential, keyCredential } from './credential.ts';
import { createGoogleDirectory } from './directory.ts';
import { examineGoogle } from './examine.ts';
import { hostsOf } from './hosts.ts';
import { ServiceAccountKey } from './schemas.ts';

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
