import { createHash } from 'node:crypto';
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { applySetting, InvalidSettingError, parseSettings } from '../shared/contract/change-setting.ts';
import type { ConnectionSettings } from '../shared/contract/settings.ts';
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
 * Stores what a secret holds. The version's id is a hash of it: a restart with the same token is no new secret, one with
 * another token is, and whoever waits for a new secret sees it.
 */
export async function storeSecret(client: SecretsManagerClient, Name: string, held: object): Promise<void> {
  const SecretString = JSON.stringify(held);
  const ClientRequestToken = createHash('sha256').update(SecretString).digest('hex');
  const value = { SecretString, ClientRequestToken };
  await client.send(new CreateSecretCommand({ Name, ...value })).catch(async (error: unknown) => {
    if (!(error instanceof ResourceExistsException)) throw error;
    await client.send(new PutSecretValueCommand({ SecretId: Name, ...value }));
  });
}
