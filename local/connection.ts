import { createHash } from 'node:crypto';
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { applySetting, InvalidSettingError, parseSettings } from '../shared/contract/change-setting.ts';
import { secretName } from '../shared/contract/names.ts';
import type { ConnectionSettings } from '../shared/contract/settings.ts';
import type { ConnectionName } from '../shared/domain/ids.ts';
import { UsageError } from './usage.ts';

/**
 * The settings of the local connection: the defaults, changed by `--setting`.
 * @throws UsageError for a setting that does not exist or does not take the value
 */
export function localSettings(
  baseUrl: string,
  changes: readonly (readonly [key: string, value: unknown])[],
): ConnectionSettings {
  try {
    return changes.reduce(
      (settings, [key, value]) => applySetting(settings, key, value),
      parseSettings({ baseUrl }),
    );
  } catch (error) {
    if (!(error instanceof InvalidSettingError)) throw error;
    throw new UsageError(`--setting ${error.message}`, { cause: error });
  }
}

/**
 * Stores the connection's credential. The version's id is a hash of the value: a restart with the same token is no new
 * secret, one with another token is, and whoever waits for a new secret sees it.
 */
export async function storeCredential(
  client: SecretsManagerClient,
  credential: { prefix: string; connection: ConnectionName; token: string },
): Promise<void> {
  const name = secretName(credential.prefix, credential.connection);
  const value = {
    SecretString: JSON.stringify({ token: credential.token }),
    ClientRequestToken: createHash('sha256').update(credential.token).digest('hex'),
  };
  await client.send(new CreateSecretCommand({ Name: name, ...value })).catch(async (error: unknown) => {
    if (!(error instanceof ResourceExistsException)) throw error;
    await client.send(new PutSecretValueCommand({ SecretId: name, ...value }));
  });
}
