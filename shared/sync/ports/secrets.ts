import type { ConnectionName } from '../../domain/ids.ts';

/** The connection's secret cannot be read, or does not hold a credential. The message never shows what it holds. */
export class SecretError extends Error {
  override readonly name = 'SecretError';
}

export type SecretValue = { readonly token: string } | OAuthSecret;

export interface OAuthSecret {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly tokenUrl: string;
  readonly accessToken?: string | undefined;
  /** When a new one is fetched, milliseconds since 1970. */
  readonly refreshAtMs?: number | undefined;
  /** When one of our workers stored these tokens, milliseconds since 1970; a person's secret has none. */
  readonly storedAtMs?: number | undefined;
}

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

/** Where credentials are kept. Nothing here reads one back. */
export interface CredentialVault {
  /** @returns the version that was made; the same token again makes none */
  store(connection: ConnectionName, token: string): Promise<string>;
  /** Gone at once where the store allows it. False where there was none. */
  remove(connection: ConnectionName): Promise<boolean>;
}
