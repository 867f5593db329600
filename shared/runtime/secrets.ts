import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import * as z from 'zod';
import { secretName } from '../contract/names.ts';
import type { ConnectionName } from '../domain/ids.ts';

/** The connection's secret cannot be read, or does not hold a credential. The message never shows what it holds. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

const SecretValue = z.union([
  z.object({ token: z.string().min(1) }),
  z.object({
    clientId: z.string().min(1),
    clientSecret: z.string().min(1),
    refreshToken: z.string().min(1),
    tokenUrl: z.url(),
    accessToken: z.string().min(1).optional(),
    /** When a new one is fetched, milliseconds since 1970. */
    refreshAtMs: z.number().optional(),
    /** When one of our workers stored these tokens, milliseconds since 1970; a person's secret has none. */
    storedAtMs: z.number().optional(),
  }),
]);
export type SecretValue = z.infer<typeof SecretValue>;

export interface Secret {
  readonly value: SecretValue;
  /** Secrets Manager's id of this version. */
  readonly version: string;
}

export interface Secrets {
  read(connection: ConnectionName): Promise<Secret>;
  /** @returns the version that was made */
  write(connection: ConnectionName, value: SecretValue): Promise<string>;
}

export function createSecrets(client: SecretsManagerClient, prefix: string): Secrets {
  return {
    async read(connection) {
      const SecretId = secretName(prefix, connection);
      const answer = await client.send(new GetSecretValueCommand({ SecretId })).catch((cause: unknown) => {
        throw new SecretError(`the secret ${SecretId} cannot be read`, { cause });
      });
      const parsed = SecretValue.safeParse(parseJson(answer.SecretString));
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

function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
