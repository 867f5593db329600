import {
  addressOfDirectory,
  type DirectoryKind,
  type DirectorySetting,
} from '../../contract/directory-settings.ts';
import { namedAttributes } from '../../contract/settings.ts';
import { isInternalUrl } from '../../contract/url.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { type DirectorySecrets, SecretError } from '../../sync/ports/secrets.ts';
import { type Directories, type Directory, DirectoryError } from '../ports.ts';
import { entra } from './entra/vendor.ts';
import type { DirectoryWorld } from './exchange.ts';
import { google } from './google/vendor.ts';
import { okta } from './okta/vendor.ts';
import { attempt, stepOf } from './steps.ts';
import type { Vendor } from './vendor.ts';

const VENDORS: { readonly [Kind in DirectoryKind]: Vendor<Kind> } = {
  google,
  entra,
  okta,
};

/**
 * Returns `world` after a check of the directory's address.
 * @throws DirectoryError `denied` for an internal address if `publicOnly` is true
 */
function checked(setting: DirectorySetting, world: DirectoryWorld): DirectoryWorld {
  const { key, url } = addressOfDirectory(setting);
  if (world.publicOnly !== true || url === undefined || !isInternalUrl(url)) return world;
  throw new DirectoryError(
    'denied',
    `${key}: expected a public address, got an address of this machine or of a private network`,
  );
}

const vendorOf = <Kind extends DirectoryKind>(setting: { readonly kind: Kind }): Vendor<Kind> =>
  VENDORS[setting.kind];

/**
 * Opens and examines directories. The credential is the connection's secret, the AWS role of the function, or (with
 * Okta) a key in KMS.
 */
export function createDirectories(secrets: DirectorySecrets, world: DirectoryWorld): Directories {
  const secretOf = (name: ConnectionName) => () =>
    secrets.read(name).catch((cause: unknown) => {
      if (!(cause instanceof SecretError)) throw cause;
      throw new DirectoryError('denied', cause.message, { cause });
    });
  return {
    async open(connection, untilMs) {
      const setting = settingOf(connection);
      const attributes = namedAttributes(connection.settings);
      const bounded = { ...checked(setting, world), attributes, untilMs };
      return vendorOf(setting).open(setting, secretOf(connection.name), bounded);
    },

    async examine(connection, isSelected) {
      const setting = settingOf(connection);
      const naming = { ...world, attributes: namedAttributes(connection.settings) };
      const examined = await attempt(() =>
        vendorOf(setting).examine(setting, secretOf(connection.name), checked(setting, naming), isSelected),
      );
      return 'value' in examined ? examined.value : [stepOf('credential', examined)];
    },
  };
}

function settingOf({ name, settings: { directory } }: Connection): DirectorySetting {
  if (directory !== null) return directory;
  throw new DirectoryError('denied', `connection ${name}: expected the setting directory, got null`);
}

/**
 * Opens a directory with a secret that is not stored yet.
 * @throws DirectoryError `denied` if the secret has the wrong form or the address is refused. The message does not show
 * the secret
 */
export const openDirectory = async (
  setting: DirectorySetting,
  secret: unknown,
  world: DirectoryWorld,
): Promise<Directory> => vendorOf(setting).open(setting, async () => secret, checked(setting, world));
