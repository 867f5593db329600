import type { DirectorySetting } from '../contract/settings.ts';
import { isInternalUrl } from '../contract/url.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { type Directories, type Directory, DirectoryError } from '../sync/ports/directory.ts';
import { type DirectorySecrets, SecretError } from '../sync/ports/secrets.ts';
import type { DirectoryWorld } from './exchange.ts';
import { type Credential, federatedCredential, keyCredential } from './google/credential.ts';
import { createGoogleDirectory } from './google/directory.ts';
import { examineGoogle } from './google/examine.ts';
import { hostsOf } from './google/hosts.ts';
import { ServiceAccountKey } from './google/schemas.ts';

/** Opens the directory of a connection with the credential of its secret, or with the AWS role of the function. */
export function createDirectories(secrets: DirectorySecrets, world: DirectoryWorld): Directories {
  const readKey = (name: ConnectionName) => () =>
    secrets.read(name).catch((cause: unknown) => {
      if (!(cause instanceof SecretError)) throw cause;
      throw new DirectoryError('denied', cause.message, { cause });
    });
  return {
    async open(connection) {
      const setting = settingOf(connection);
      const credential = await credentialOf(setting, readKey(connection.name), world);
      return createGoogleDirectory({ ...setting, credential }, world);
    },

    async examine(connection) {
      const setting = settingOf(connection);
      try {
        const credential = await credentialOf(setting, readKey(connection.name), world);
        return await examineGoogle({ ...setting, credential }, world);
      } catch (error) {
        if (!(error instanceof DirectoryError)) throw error;
        const { kind, message, reason } = error;
        return [{ step: 'credential', failure: { kind, message, reason } }];
      }
    },
  };
}

function settingOf({ name, settings: { directory } }: Connection): DirectorySetting {
  if (directory !== null) return directory;
  throw new DirectoryError('denied', `connection ${name}: expected the setting directory, got null`);
}

/** @throws DirectoryError `denied` if the key is not a key file; the message does not show the key */
export async function openDirectory(
  setting: DirectorySetting,
  key: unknown,
  world: DirectoryWorld,
): Promise<Directory> {
  return createGoogleDirectory(
    { ...setting, credential: await credentialOf(setting, async () => key, world) },
    world,
  );
}

async function credentialOf(
  { federation, baseUrl }: DirectorySetting,
  readKey: () => Promise<unknown>,
  world: DirectoryWorld,
): Promise<Credential> {
  if (world.publicOnly === true && baseUrl !== undefined && isInternalUrl(baseUrl)) {
    throw new DirectoryError(
      'denied',
      'directory.baseUrl: expected a public address, got one of this machine or of a private network',
    );
  }
  if (federation !== undefined) {
    const { sts: stsUrl, iam: iamUrl } = hostsOf(baseUrl);
    return federatedCredential({ ...federation, stsUrl, iamUrl }, world);
  }
  const parsed = ServiceAccountKey.safeParse(await readKey());
  if (parsed.success) return keyCredential(parsed.data);
  const fields = 'type, client_email, private_key_id and private_key';
  throw new DirectoryError('denied', `expected the key file of a service account with ${fields}`);
}
