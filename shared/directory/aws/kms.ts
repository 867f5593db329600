import type { KMSClient, KMSServiceException } from '@aws-sdk/client-kms';
import { DirectoryError } from '../ports.ts';

const TIMEOUT_MS = 10_000;

/** Loads the client at its first use, because only a directory with a key in KMS needs it. */
export async function kmsClient(region: string): Promise<Pick<KMSClient, 'send'>> {
  const { KMSClient } = await import('@aws-sdk/client-kms');
  return new KMSClient({ region, requestHandler: { requestTimeout: TIMEOUT_MS } });
}

/**
 * Returns a function that signs with an RSA key in KMS (RSASSA-PKCS1-v1_5 with SHA-256).
 * @param clientIn returns the client for a region
 */
export const createKmsSign =
  (clientIn = kmsClient) =>
  async (keyArn: string, message: Uint8Array): Promise<Uint8Array> => {
    const client = await clientIn(regionOf(keyArn));
    const { SignCommand } = await import('@aws-sdk/client-kms');
    const command = new SignCommand({
      KeyId: keyArn,
      Message: message,
      MessageType: 'RAW',
      SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
    });
    const { Signature = new Uint8Array() } = await client.send(command).catch((error: unknown) => {
      throw failureOf(error);
    });
    return Signature;
  };

/** @param keyArn `arn:PARTITION:kms:REGION:ACCOUNT:key/ID` */
function regionOf(keyArn: string): string {
  const region = /^arn:[a-z-]+:kms:([a-z0-9-]+):\d+:key\//.exec(keyArn)?.[1];
  if (region === undefined) throw new DirectoryError('denied', 'signature: expected the ARN of a key in KMS');
  return region;
}

/** Returns an error without the text of the cause, which can contain the ARN of the role. */
function failureOf(error: unknown): DirectoryError {
  const { name: reason = 'unknown', $metadata } = error as Partial<KMSServiceException>;
  const status = $metadata?.httpStatusCode ?? 500;
  const isRefused = status < 500 && status !== 429 && !/Throttling/.test(reason);
  const kind = isRefused || reason === 'CredentialsProviderError' ? 'denied' : 'unavailable';
  return new DirectoryError(kind, `signature: AWS KMS answered ${reason}`, { reason });
}
