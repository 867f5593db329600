import type { KMSServiceException } from '@aws-sdk/client-kms';
import { DirectoryError } from '../ports.ts';

const TIMEOUT_MS = 10_000;

/**
 * Signs with an RSA key in KMS (RSASSA-PKCS1-v1_5 with SHA-256). The client is loaded at its first use, because only a
 * directory with a key in KMS needs it.
 * @throws DirectoryError `denied` if AWS refuses the request; otherwise `unavailable`
 */
export async function kmsSign(keyArn: string, message: Uint8Array): Promise<Uint8Array> {
  const region = regionOf(keyArn);
  const { KMSClient, SignCommand } = await import('@aws-sdk/client-kms');
  const client = new KMSClient({ region, requestHandler: { requestTimeout: TIMEOUT_MS } });
  const command = new SignCommand({
    KeyId: keyArn,
    Message: message,
    MessageType: 'RAW',
    SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
  });
  const { Signature } = await client.send(command).catch((error: unknown) => {
    throw failureOf(error);
  });
  if (Signature === undefined) throw failureOf({ name: 'no signature' });
  return Signature;
}

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
