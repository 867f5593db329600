import { type Directories, DirectoryError } from '../sync/ports/directory.ts';
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
      const secret = await secrets.read(name).catch((cause: unknown) => {
        if (!(cause instanceof SecretError)) throw cause;
        throw new DirectoryError('denied', cause.message, { cause });
      });
      const key = ServiceAccountKey.safeParse(secret);
      if (!key.success) {
        // The value is never shown: it holds a private key.
        const fields = 'type, client_email, private_key_id and private_key';
        throw new DirectoryError(
          'denied',
          `connection ${name}: expected the key file of a service account with ${fields}`,
        );
      }
      const { administrator, baseUrl } = directory;
      return createGoogleDirectory({ key: key.data, administrator, baseUrl }, world);
    },
  };
}
