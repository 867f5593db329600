import { STSClient } from '@aws-sdk/client-sts';
import { parseJson } from '../../contract/json.ts';
import { DirectoryError } from '../ports.ts';

const TIMEOUT_MS = 10_000;

interface KmsOptions {
  readonly signed: (request: KmsRequest) => Promise<Readonly<Record<string, string>>>;
  readonly fetch: typeof fetch;
}

interface KmsRequest {
  readonly url: URL;
  readonly region: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Returns a function that signs with an RSA key in KMS (RSASSA-PKCS1-v1_5 with SHA-256). It sends the request directly
 * in KMS's JSON protocol, because the SDK's KMS client would be a dependency for only one operation.
 */
export const createKmsSign =
  ({ signed, fetch }: KmsOptions) =>
  async (keyArn: string, message: Uint8Array): Promise<Uint8Array> => {
    const { host, region } = endpointOf(keyArn);
    const url = new URL(`https://${host}/`);
    const body = JSON.stringify({
      KeyId: keyArn,
      Message: Buffer.from(message).toString('base64'),
      MessageType: 'RAW',
      SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
    });
    const headers = {
      host,
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'TrentService.Sign',
    };
    const request = { url, region, headers, body };
    const { status, text } = await send(request, await signed(request), fetch);
    const json = parseJson(text);
    const answer = (json.ok ? json.value : undefined) as
      | { Signature?: unknown; __type?: unknown }
      | undefined;
    if (status === 200 && typeof answer?.Signature === 'string')
      return Buffer.from(answer.Signature, 'base64');
    // KMS may return the full name of the error: `com.amazonaws.kms#NotFoundException`.
    const reason = String(answer?.__type ?? `HTTP ${status}`).replace(/^.*#/, '');
    const isRefused = status >= 400 && status < 500 && status !== 429 && !/Throttling/.test(reason);
    throw failureOf(isRefused ? 'denied' : 'unavailable', reason);
  };

const failureOf = (kind: 'denied' | 'unavailable', reason: string) =>
  new DirectoryError(kind, `signature: AWS KMS answered ${reason}`, { reason });

/** @param keyArn `arn:PARTITION:kms:REGION:ACCOUNT:key/ID` */
function endpointOf(keyArn: string) {
  const [arn, partition, service, region = '', , resource = ''] = keyArn.split(':');
  const isKey =
    arn === 'arn' && service === 'kms' && /^[a-z0-9-]+$/.test(region) && resource.startsWith('key/');
  if (!isKey) throw new DirectoryError('denied', 'signature: expected the ARN of a key in KMS');
  const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  return { host: `kms.${region}.${suffix}`, region };
}

async function send(
  { url, body }: KmsRequest,
  headers: Readonly<Record<string, string>>,
  fetch: KmsOptions['fetch'],
) {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { method: 'POST', headers, body, signal });
    return { status: answer.status, text: await answer.text() };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.name : 'unknown';
    throw new DirectoryError('unavailable', `signature: AWS KMS did not answer (${reason})`, { reason });
  }
}

/**
 * Signs requests with the credentials of this process. Each call creates a client, because a client signs only for the
 * first service name that it gets.
 */
export const signedAsRole: KmsOptions['signed'] = async ({ url, region, headers, body }) => {
  try {
    const { config } = new STSClient({});
    const signer = await config.signer({
      name: 'sigv4',
      signingName: 'kms',
      signingRegion: region,
      properties: {},
    });
    const { protocol, hostname, pathname: path } = url;
    const request = { method: 'POST', protocol, hostname, path, query: {}, headers: { ...headers }, body };
    return (await signer.sign(request)).headers;
  } catch (error) {
    const reason = error instanceof Error ? error.name : 'unknown';
    throw failureOf('denied', reason);
  }
};
