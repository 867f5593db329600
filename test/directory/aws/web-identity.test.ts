import { GetWebIdentityTokenCommand, STSClient } from '@aws-sdk/client-sts';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it } from 'vitest';
import { createWebIdentity } from '../../../shared/directory/aws/web-identity.ts';

const AUDIENCE = 'https://iam.googleapis.com/projects/1/providers/aws';

it('the web identity is a token of AWS STS for one audience, valid for five minutes', async () => {
  const sts = mockClient(STSClient);
  sts.on(GetWebIdentityTokenCommand).resolves({ WebIdentityToken: 'token' });
  expect(await createWebIdentity(new STSClient({}))(AUDIENCE)).toBe('token');
  expect(sts.commandCalls(GetWebIdentityTokenCommand).map(({ args }) => args[0].input)).toEqual([
    { Audience: [AUDIENCE], DurationSeconds: 300, SigningAlgorithm: 'RS256' },
  ]);
});

it.each([
  ['AccessDenied', 'denied'],
  ['OutboundWebIdentityFederationDisabledException', 'denied'],
  ['TimeoutError', 'unavailable'],
])('the AWS STS error %s is reported as %s, without the text of the error', async (name, kind) => {
  const sts = mockClient(STSClient);
  sts
    .on(GetWebIdentityTokenCommand)
    .rejects(Object.assign(new Error('role arn:aws:iam::1:role/x'), { name }));
  await expect(createWebIdentity(new STSClient({}))(AUDIENCE)).rejects.toMatchObject({
    kind,
    reason: name,
    message: `web identity: AWS STS answered ${name}`,
  });
});
