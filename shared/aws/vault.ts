import { createHash } from 'node:crypto';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
  RestoreSecretCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { secretName } from '../contract/names.ts';
import type { CredentialVault } from '../sync/ports/secrets.ts';

/** How long a removed secret can be brought back (Secrets Manager: 7 to 30 days). */
const RECOVERY_DAYS = 7;

/** Stores credentials in Secrets Manager. The version's id is a hash of the token: the same one again is no news. */
export function createVault(client: SecretsManagerClient, prefix: string): CredentialVault {
  return {
    async store(connection, token) {
      const Name = secretName(prefix, connection);
      const value = {
        SecretString: JSON.stringify({ token }),
        ClientRequestToken: createHash('sha256').update(`${Name}\n${token}`).digest('hex'),
      };
      const put = () => client.send(new PutSecretValueCommand({ SecretId: Name, ...value }));
      try {
        await client.send(new CreateSecretCommand({ Name, ...value }));
      } catch (error) {
        if (isBeingDeleted(error)) {
          await client.send(new RestoreSecretCommand({ SecretId: Name }));
        } else if (!(error instanceof ResourceExistsException)) throw error;
        await put();
      }
      return value.ClientRequestToken;
    },

    async remove(connection) {
      const SecretId = secretName(prefix, connection);
      try {
        await client.send(new DeleteSecretCommand({ SecretId, RecoveryWindowInDays: RECOVERY_DAYS }));
        return true;
      } catch (error) {
        if (error instanceof ResourceNotFoundException) return false;
        throw error;
      }
    },
  };
}

const isBeingDeleted = (error: unknown): boolean =>
  error instanceof Error && error.name === 'InvalidRequestException' && /delet/i.test(error.message);
