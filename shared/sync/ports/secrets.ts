import * as z from 'zod';
import type { Frozen } from '../../domain/forms.ts';
import type { ConnectionName } from '../../domain/ids.ts';

/** The secret cannot be read, or contains no credential. The message never shows the secret's content. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

const filled = z.string().min(1);
const OAuthSecret = z.object({
  clientId: filled,
  clientSecret: filled,
  refreshToken: filled,
  tokenUrl: z.url(),
  accessToken: filled.optional(),
  /** The time at which a new access token is fetched, in milliseconds since 1970. */
  refreshAtMs: z.number().optional(),
  /** The time at which a worker stored these tokens, in ms since 1970. Absent if an operator stored them. */
  storedAtMs: z.number().optional(),
});
export type OAuthSecret = Frozen<z.infer<typeof OAuthSecret>>;
export const SecretValue = z.union([z.object({ token: filled }), OAuthSecret]);
export type SecretValue = Frozen<z.infer<typeof SecretValue>>;

export interface Secret {
  readonly value: SecretValue;
  /** Secrets Manager's id of this version. */
  readonly version: string;
}

export interface Secrets {
  read(connection: ConnectionName): Promise<Secret>;
  /** @returns the new version */
  write(connection: ConnectionName, value: SecretValue): Promise<string>;
}

/** The stored credentials for reading directories. */
export interface DirectorySecrets {
  /**
   * Returns the JSON of the secret, in the form of the vendor's key file.
   * @throws SecretError if there is no such secret
   */
  read(connection: ConnectionName): Promise<unknown>;
}

/** Stores and removes credentials. It has no method for reading them. */
export interface CredentialVault {
  /** @returns the new version */
  store(connection: ConnectionName, token: string): Promise<string>;
  /** Removes the credential, immediately if the store allows that. Returns false if there was none. */
  remove(connection: ConnectionName): Promise<boolean>;
}
