import type { DirectoryOf } from '../../contract/settings.ts';
import { DirectoryError } from '../../sync/ports/directory.ts';
import type { ReadSecret, Vendor } from '../vendor.ts';
import { createEntraDirectory } from './directory.ts';
import { examineEntra } from './examine.ts';
import { ClientSecret } from './schemas.ts';
import type { Credential } from './sign-in.ts';

export const entra: Vendor<'entra'> = {
  async open(setting, readSecret, world) {
    const credential = await credentialOf(setting, readSecret);
    return createEntraDirectory({ ...setting, credential }, world);
  },

  async examine(setting, readSecret, world, isSelected) {
    const credential = await credentialOf(setting, readSecret);
    return examineEntra({ ...setting, credential }, world, isSelected);
  },
};

async function credentialOf(
  { federation }: DirectoryOf<'entra'>,
  readSecret: ReadSecret,
): Promise<Credential> {
  if (federation !== undefined) return { kind: 'federation', audience: federation.audience };
  const parsed = ClientSecret.safeParse(await readSecret());
  if (parsed.success) return { kind: 'secret', clientSecret: parsed.data.clientSecret };
  throw new DirectoryError('denied', 'expected a stored secret with the field clientSecret');
}
