import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { parseJson } from '../contract/json.ts';
import { secretName } from '../contract/names.ts';
import { SecretError, type Secrets, type SecretValue } from '../sync/ports/secrets.ts';

const StoredSecret: z.ZodType<SecretValue> = z.union([
  z.object({ token: z.string().min(1) }),
  z.object({
    clientId: z.string().min(1),
    clientSecret: z.string().min(1),
    refreshToken: z.string().min(1),
    tokenUrl: z.url(),
    accessToken: z.string().min(1).optional(),
    refreshAtMs: z.number().optional(),
    storedAtMs: z.number().optional(),
  }),
]);

export function createSecrets(client: SecretsManagerClient, prefix: string): Secrets {
  return {
    async read(connection) {
      const SecretId = secretName(prefix, connection);
      const answer = await client.send(new GetSecretValueCommand({ SecretId })).catch((cause: unknown) => {
        throw new SecretError(`the secret ${SecretId} cannot be read`, { cause });
      });
      const json = parseJson(answer.SecretString ?? '');
      const parsed = StoredSecret.safeParse(json.ok ? json.value : undefined);
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
