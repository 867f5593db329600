import { expect, it, vi } from 'vitest';
import { createKmsSign, signedAsRole } from '../../../shared/directory/aws/kms.ts';

const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';

const answering = (status: number, body: unknown) => {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => new Response(JSON.stringify(body), { status }));
  const sign = createKmsSign({
    fetch,
    signed: async ({ headers }) => ({ ...headers, authorization: 'signed' }),
  });
  return { fetch, sign };
};

it('sign requests an RSA signature from KMS in the region of the key', async () => {
  const { fetch, sign } = answering(200, { Signature: Buffer.from('signature').toString('base64') });
  expect(Buffer.from(await sign(KEY, Buffer.from('message'))).toString()).toBe('signature');
  const [url, request] = fetch.mock.calls[0] ?? [];
  expect(String(url)).toBe('https://kms.eu-west-1.amazonaws.com/');
  expect(request?.headers).toMatchObject({ 'x-amz-target': 'TrentService.Sign', authorization: 'signed' });
  expect(JSON.parse(String(request?.body))).toEqual({
    KeyId: KEY,
    Message: Buffer.from('message').toString('base64'),
    MessageType: 'RAW',
    SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
  });
});

it.each([
  [400, 'AccessDeniedException', 'denied'],
  [400, 'NotFoundException', 'denied'],
  [400, 'DisabledException', 'denied'],
  [400, 'ThrottlingException', 'unavailable'],
  [500, 'KMSInternalException', 'unavailable'],
])('the KMS answer %s %s is reported as %s, without the text of the error', async (status, name, kind) => {
  const { sign } = answering(status, {
    __type: `com.amazonaws.kms#${name}`,
    message: 'role arn:aws:iam::1',
  });
  await expect(sign(KEY, Buffer.from('message'))).rejects.toMatchObject({
    kind,
    reason: name,
    message: `signature: AWS KMS answered ${name}`,
  });
});

it('a key that is not an ARN is reported as denied, without a request', async () => {
  const { fetch, sign } = answering(200, {});
  await expect(sign('alias/okta', Buffer.from('message'))).rejects.toMatchObject({ kind: 'denied' });
  expect(fetch).not.toHaveBeenCalled();
});

it('signedAsRole signs with the credentials of the process, for KMS in the region of the key', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const url = new URL('https://kms.eu-west-1.amazonaws.com/');
  const headers = await signedAsRole({ url, region: 'eu-west-1', headers: { host: url.host }, body: '{}' });
  expect(headers['authorization']).toContain('/eu-west-1/kms/aws4_request');
  vi.unstubAllEnvs();
});
