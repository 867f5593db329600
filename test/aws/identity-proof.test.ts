import { expect, it } from 'vitest';
import { deciderOf, proveIdentity, verifyIdentity } from '../../shared/aws/identity-proof.ts';
import { createSdk } from '../../shared/aws/sdk.ts';

const ARN = 'arn:aws:sts::111122223333:assumed-role/approver/ann';
const STAGE = 'groupsync';
const TEXT = '{"about":"hold"}';

/** Creates a fake of AWS STS. It answers the request that the function sends, and records it. */
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

it('AWS STS tells the function who signed the decision', async () => {
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
  ['a proof of another decision', { text: '{"about":"settings"}' }],
  ['a proof of another stage', { stage: 'groupsync-staging' }],
  ['a proof that is older than five minutes', { nowMs: Date.now() + 6 * 60_000 }],
])('%s is refused without a request to AWS STS', async (_, change) => {
  const { sent, fetch } = sts();
  const { text = TEXT, ...given } = { ...around(fetch), ...change } as ReturnType<typeof around> & {
    text?: string;
  };
  await expect(verifyIdentity(text, await prove(), given)).rejects.toThrow(
    'the proof of identity is refused',
  );
  expect(sent).toEqual([]);
});

it('a proof is refused if its signature does not cover the decision', async () => {
  const proof = await prove();
  const authorization = String(proof['authorization']).replace(';x-groupsync-about', '');
  await expect(verifyIdentity(TEXT, { ...proof, authorization }, around(sts().fetch))).rejects.toThrow(
    'does not cover',
  );
});

it('a proof is refused if AWS STS refuses the signature', async () => {
  await expect(verifyIdentity(TEXT, await prove(), around(sts(403).fetch))).rejects.toThrow(
    'AWS STS answered 403',
  );
});

const ROLE = 'arn:aws:iam::111122223333:role/groupsync-Console-Role';
const sender = (arn: string) => ({ kind: 'operator', id: arn, arn }) as const;
const console = sender('arn:aws:sts::111122223333:assumed-role/groupsync-Console-Role/groupsync-console');

it('a decision that the console sends belongs to the person that the console names', () => {
  expect(deciderOf(console, 'ann@acme.test', ROLE)).toEqual({
    kind: 'operator',
    id: 'console:ann@acme.test',
  });
});

it('a decision from the command line belongs to the AWS identity of the operator', () => {
  expect(deciderOf(sender(ARN), undefined, ROLE)).toEqual(sender(ARN));
  expect(deciderOf(sender(ARN), undefined, undefined)).toEqual(sender(ARN));
});

it.each([
  ['a person named by an operator at the command line', sender(ARN), 'bob@acme.test', ROLE],
  ['a role of this name in another account', sender(`${console.id.replace('1111', '9999')}`), 'bob', ROLE],
  ['a role with a longer name', sender(console.id.replace('-Role/', '-Role2/')), 'bob', ROLE],
  ['a person named by the console of another stage', console, 'bob', undefined],
  ['a decision of the console that names no person', console, undefined, ROLE],
])('%s is refused', (_, from, person, role) => {
  expect(() => deciderOf(from, person, role)).toThrow('the proof of identity is refused');
});
