import type { DirectorySetting } from '../contract/settings.ts';
import { type Directories, type Directory, DirectoryError } from '../sync/ports/directory.ts';
import { type DirectorySecrets, SecretError } from '../sync/ports/secrets.ts';
import type { DirectoryWorld } from './exchange.ts';
import { createGoogleDirectory } from './google/directory.ts';
import { ServiceAccountKey } from './google/schemas.ts';

/** Opens the directory of a connection with the credential from its secret. */
export function createDirectories(secrets: DirectorySecrets, world: DirectoryWorld): Directories {
  return {
    async open({ name, settings: { directory } }) {
      if (directory === null) {
        throw new DirectoryError('denied', `connection ${name}: expected the setting directory, got null`);
      }
      const key = await secrets.read(name).catch((cause: unknown) => {
        if (!(cause instanceof SecretError)) throw cause;
        throw new DirectoryError('denied', cause.message, { cause });
      });
      return openDirectory(directory, key, world);
    },
  };
}

/** @throws DirectoryError `denied` if the key is no key file; the message does not show it */
export function openDirectory(
  { administrator, baseUrl }: DirectorySetting,
  key: unknown,
  world: DirectoryWorld,
): Directory {
  const parsed = ServiceAccountKey.safeParse(key);
  if (!parsed.success) {
    const fields = 'type, client_email, private_key_id and private_key';
    throw new DirectoryError('denied', `expected the key file of a service account with ${fields}`);
  }
  return createGoogleDirectory({ key: parsed.data, administrator, baseUrl }, world);
}
