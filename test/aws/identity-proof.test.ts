import { describe, expect, it } from 'vitest';
import { proveIdentity, verifyIdentity } from '../../shared/aws/identity-proof.ts';
import { createSdk } from '../../shared/aws/sdk.ts';

const ARN = 'arn:aws:sts::111122223333:assumed-role/approver/ann';
const STAGE = 'groupsync';
const TEXT = '{"about":"hold"}';

/** AWS STS, as far as the proof needs it. It records the request that the function sends. */
function sts(status = 200) {
  const sent: { url: string; headers: Headers; body: unknown }[] = [];
  const fetch = (async (url: string, init: RequestInit) => {
    sent.push({ url, headers: new Headers(init.headers), body: init.body });
    return new Response(`<Arn>${ARN}</Arn>`, { status });
  }) as typeof globalThis.fetch;
  return { sent, fetch };
}

const sdk = createSdk({
  region: 'eu-west-1',
  local: { dynamodb: '', sqs: '', secretsManager: '', lambda: '', scheduler: '' },
});
const prove = () => proveIdentity(TEXT, STAGE, sdk);
const around = (fetch: typeof globalThis.fetch) => ({
  stage: STAGE,
  region: 'eu-west-1',
  nowMs: Date.now(),
  fetch,
});

describe('proof of identity', () => {
  it('the function learns from AWS STS who signed the decision', async () => {
    const { sent, fetch } = sts();
    expect(await verifyIdentity(TEXT, await prove(), around(fetch))).toEqual({
      kind: 'operator',
      id: ARN,
      arn: ARN,
    });
    expect(sent).toMatchObject([
      { url: 'https://sts.eu-west-1.amazonaws.com/', body: 'Action=GetCallerIdentity&Version=2011-06-15' },
    ]);
    expect(sent[0]?.headers.get('authorization')).toMatch(/SignedHeaders=[^,]*host[^,]*x-groupsync-about/);
  });

  it.each([
    ['another decision', { text: '{"about":"settings"}' }],
    ['another stage', { stage: 'groupsync-staging' }],
    ['a time more than five minutes ago', { nowMs: Date.now() + 6 * 60_000 }],
  ])('the proof is refused for %s, without a request to AWS STS', async (_, change) => {
    const { sent, fetch } = sts();
    const { text = TEXT, ...given } = { ...around(fetch), ...change } as ReturnType<typeof around> & {
      text?: string;
    };
    await expect(verifyIdentity(text, await prove(), given)).rejects.toThrow(
      'the proof of identity is refused',
    );
    expect(sent).toEqual([]);
  });

  it('the proof is refused if its signature does not cover the decision', async () => {
    const proof = await prove();
    const authorization = String(proof['authorization']).replace(';x-groupsync-about', '');
    await expect(verifyIdentity(TEXT, { ...proof, authorization }, around(sts().fetch))).rejects.toThrow(
      'does not cover',
    );
  });

  it('the proof is refused if AWS STS refuses the signature', async () => {
    await expect(verifyIdentity(TEXT, await prove(), around(sts(403).fetch))).rejects.toThrow(
      'AWS STS answered 403',
    );
  });
});
