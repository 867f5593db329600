import {
  CreateSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { applySetting, InvalidSettingError, parseSettings } from '../shared/contract/change-setting.ts';
import type { ConnectionSettings } from '../shared/contract/settings.ts';
import { UsageError } from './usage.ts';

/**
 * Returns the default settings with the changes of `--setting` applied.
 * @throws UsageError if a setting does not exist or does not accept the value
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
 * Creates or updates a secret. An unchanged value is not stored again, because a new version would look like a
 * rotation.
 */
export async function storeSecret(client: SecretsManagerClient, Name: string, held: object): Promise<void> {
  const SecretString = JSON.stringify(held);
  try {
    const known = await client.send(new GetSecretValueCommand({ SecretId: Name }));
    if (known.SecretString === SecretString) return;
    await client.send(new PutSecretValueCommand({ SecretId: Name, SecretString }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    await client.send(new CreateSecretCommand({ Name, SecretString }));
  }
}
