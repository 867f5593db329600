import { createVerify, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, it } from 'vitest';
import { kmsSign } from '../../../shared/directory/aws/kms.ts';

const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const kms = mockClient(KMSClient);

beforeEach(() => kms.reset());

it('sign requests an RSA signature from KMS in the region of the key', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  kms
    .on(SignCommand)
    .callsFake(async ({ Message }) => ({ Signature: signWith('sha256', Message, privateKey) }));
  const signature = await kmsSign(KEY, Buffer.from('message'));
  expect(createVerify('sha256').update('message').verify(publicKey, signature)).toBe(true);
  expect(kms.call(0).args[0].input).toMatchObject({
    KeyId: KEY,
    MessageType: 'RAW',
    SigningAlgorithm: 'RSASSA_PKCS1_V1_5_SHA_256',
  });
  expect(await (kms.call(0).thisValue as KMSClient).config.region()).toBe('eu-west-1');
});

it.each([
  [400, 'AccessDeniedException', 'denied'],
  [400, 'NotFoundException', 'denied'],
  [400, 'DisabledException', 'denied'],
  [400, 'ThrottlingException', 'unavailable'],
  [500, 'KMSInternalException', 'unavailable'],
  [undefined, 'TimeoutError', 'unavailable'],
  [undefined, 'CredentialsProviderError', 'denied'],
])('the KMS answer %s %s is reported as %s, without the text of the error', async (status, name, kind) => {
  const error = Object.assign(new Error('role arn:aws:iam::1'), {
    name,
    ...(status && { $metadata: { httpStatusCode: status } }),
  });
  kms.on(SignCommand).rejects(error);
  await expect(kmsSign(KEY, Buffer.from('message'))).rejects.toMatchObject({
    kind,
    reason: name,
    message: `signature: AWS KMS answered ${name}`,
  });
});

it('an answer without a signature is reported as unavailable', async () => {
  kms.on(SignCommand).resolves({});
  await expect(kmsSign(KEY, Buffer.from('message'))).rejects.toMatchObject({ kind: 'unavailable' });
});

it('a key that is not an ARN is reported as denied, without a request', async () => {
  await expect(kmsSign('alias/okta', Buffer.from('message'))).rejects.toMatchObject({ kind: 'denied' });
  expect(kms.calls()).toEqual([]);
});
