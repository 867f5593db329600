import {
  CreateSecretCommand,
  DeleteSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
  RestoreSecretCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { jsonValue, parseJson } from '../contract/json.ts';
import { directorySecretName, secretName } from '../contract/names.ts';
import type { ConnectionName } from '../domain/ids.ts';
import {
  type CredentialVault,
  type DirectorySecrets,
  SecretError,
  type Secrets,
  SecretValue,
} from '../sync/ports/secrets.ts';

export function createSecrets(client: SecretsManagerClient, prefix: string): Secrets {
  return {
    async read(connection) {
      const SecretId = secretName(prefix, connection);
      const answer = await readSecret(client, SecretId);
      const parsed = SecretValue.safeParse(jsonValue(answer.SecretString ?? ''));
      if (!parsed.success || answer.VersionId === undefined) {
        const forms = '{"token"} or {"clientId", "clientSecret", "refreshToken", "tokenUrl"}';
        throw new SecretError(`the secret ${SecretId} does not hold ${forms}`);
      }
      return { value: parsed.data, version: answer.VersionId };
    },

    async write(connection, value) {
      const SecretId = secretName(prefix, connection);
      const answer = await client.send(
        new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(value) }),
      );
      return answer.VersionId ?? '';
    },
  };
}

export function createDirectorySecrets(client: SecretsManagerClient, prefix: string): DirectorySecrets {
  return {
    async read(connection) {
      const SecretId = directorySecretName(prefix, connection);
      const answer = await readSecret(client, SecretId);
      const json = parseJson(answer.SecretString ?? '');
      if (!json.ok) throw new SecretError(`the secret ${SecretId} does not hold JSON`);
      return json.value;
    },
  };
}

const readSecret = (client: SecretsManagerClient, SecretId: string) =>
  client.send(new GetSecretValueCommand({ SecretId })).catch((cause: unknown) => {
    throw new SecretError(`the secret ${SecretId} cannot be read`, { cause });
  });

interface SecretPlace {
  readonly client: SecretsManagerClient;
  /** Returns the ARN of the KMS key for new secrets; undefined: the default key of Secrets Manager. */
  readonly keyOf: () => Promise<string | undefined>;
}

/** The number of days in which a removed secret can be restored (Secrets Manager allows 7 to 30). */
const RECOVERY_DAYS = 7;

/** Stores credentials as a new secret, or as a new version. A secret that is being deleted is restored first. */
async function putSecret({ client, keyOf }: SecretPlace, Name: string, SecretString: string) {
  try {
    const KmsKeyId = await keyOf();
    const created = await client.send(
      new CreateSecretCommand({ Name, SecretString, ...(KmsKeyId && { KmsKeyId }) }),
    );
    return created.VersionId ?? '';
  } catch (error) {
    if (isBeingDeleted(error)) {
      await client.send(new RestoreSecretCommand({ SecretId: Name }));
    } else if (!(error instanceof ResourceExistsException)) throw error;
    const put = await client.send(new PutSecretValueCommand({ SecretId: Name, SecretString }));
    return put.VersionId ?? '';
  }
}

export const storeDirectoryKey =
  (place: SecretPlace, prefix: string) =>
  async (connection: ConnectionName, key: unknown): Promise<void> => {
    await putSecret(place, directorySecretName(prefix, connection), JSON.stringify(key));
  };

export const removeDirectoryKey =
  (client: SecretsManagerClient, prefix: string) =>
  async (connection: ConnectionName): Promise<void> => {
    await removeSecret(client, directorySecretName(prefix, connection));
  };

export function createVault(place: SecretPlace, prefix: string): CredentialVault {
  const { client } = place;
  return {
    store: (connection, token) => putSecret(place, secretName(prefix, connection), JSON.stringify({ token })),

    async remove(connection) {
      const isRemoved = await removeSecret(client, secretName(prefix, connection));
      await removeSecret(client, directorySecretName(prefix, connection));
      return isRemoved;
    },
  };
}

/** @returns false if the secret does not exist or is already being deleted */
async function removeSecret(client: SecretsManagerClient, SecretId: string): Promise<boolean> {
  try {
    await client.send(new DeleteSecretCommand({ SecretId, RecoveryWindowInDays: RECOVERY_DAYS }));
    return true;
  } catch (error) {
    if (error instanceof ResourceNotFoundException || isBeingDeleted(error)) return false;
    throw error;
  }
}

const isBeingDeleted = (error: unknown): boolean =>
  error instanceof Error && error.name === 'InvalidRequestException' && /delet/i.test(error.message);
