import { expect, it } from 'vitest';
import { ROLE_ARN } from '../../../../directory-simulator/engine/web-identity.ts';
import { PROVIDER } from '../../../../directory-simulator/google/federation.ts';
import { READ_ALL } from '../../../../directory-simulator/google/scopes.ts';
import { SERVICE_ACCOUNT } from '../../../../directory-simulator/google/sign-in.ts';
import { DirectoryError, type DirectoryStep } from '../../../../shared/directory/ports.ts';
import { federatedCredential } from '../../../../shared/directory/vendors/google/credential.ts';
import { createGoogleDirectory, examineGoogle } from '../../../../shared/directory/vendors/google/vendor.ts';
import { ADMIN } from '../../../directory-simulator/fixture.ts';
import { openGoogle } from './reader.ts';

const SERVICE = { provider: PROVIDER, serviceAccount: SERVICE_ACCOUNT.email };
const ALL_WORK = ['administrator', 'groups', 'members', 'users', 'reports'];

/** Opens a directory with a federated sign-in, which needs no key. */
async function openFederated(changed: Partial<typeof SERVICE> = {}) {
  const google = await openGoogle();
  const { url, world, account } = google;
  const credential = federatedCredential({ ...SERVICE, ...changed, stsUrl: url, iamUrl: url }, world);
  const options = { ...account, credential };
  return {
    ...google,
    directory: createGoogleDirectory(options, world),
    examine: () => examineGoogle(options, world),
  };
}

const openWithKey = async () => {
  const google = await openGoogle();
  return { ...google, examine: () => examineGoogle(google.account, google.world) };
};

/** Returns the name of each step, with the message of a failure. */
const linesOf = (steps: readonly DirectoryStep[]) =>
  steps.map(({ step, failure }) => (failure === undefined ? step : `${step}: ${failure.message}`));

it('the directory is read with the role of the function', async () => {
  const { directory, requests } = await openFederated();
  expect((await directory.group('sales@example.com'))?.name).toBe('Sales');
  await directory.group('g-emea');
  const account = encodeURIComponent(SERVICE_ACCOUNT.email);
  expect((await requests()).map(({ path }) => path.replace('@', '%40'))).toEqual([
    '/v1/token',
    `/v1/projects/-/serviceAccounts/${account}:signJwt`,
    '/token',
    expect.stringContaining('/groups/'),
    expect.stringContaining('/groups/'),
  ]);
});

it('every step succeeds without a secret if the directory trusts the role', async () => {
  const { examine } = await openFederated();
  expect(linesOf(await examine())).toEqual(['web identity', 'token exchange', 'signature', ...ALL_WORK]);
});

it.each([
  ['directMembersCount of group g-sales includes only users', {}],
  ['directMembersCount of group g-sales includes users and groups', { countsGroups: true }],
  ['unknown whether directMembersCount includes groups', { absentCounts: 1 }],
])('the step members shows the result: %s', async (found, settings) => {
  const { examine, control } = await openWithKey();
  await control('settings', settings);
  const members = (await examine()).find(({ step }) => step === 'members');
  expect(members).toMatchObject({ failure: undefined, detail: expect.stringContaining(found) });
});

it('the examination names the step that AWS refuses', async () => {
  const { world, account, url } = await openGoogle();
  const webIdentity = async () => {
    throw new DirectoryError('denied', 'web identity: AWS STS answered AccessDenied', {
      reason: 'AccessDenied',
    });
  };
  const refused = { ...world, webIdentity };
  const credential = federatedCredential({ ...SERVICE, stsUrl: url, iamUrl: url }, refused);
  expect(await examineGoogle({ ...account, credential }, refused)).toEqual([
    {
      step: 'web identity',
      failure: {
        kind: 'denied',
        message: 'web identity: AWS STS answered AccessDenied',
        reason: 'AccessDenied',
      },
    },
  ]);
});

it('the examination names an unknown identity provider', async () => {
  const { examine } = await openFederated({ provider: '//iam.googleapis.com/other' });
  expect(linesOf(await examine())).toEqual([
    'web identity',
    expect.stringMatching(/^token exchange: token exchange: the directory answered 400 \(invalid_/),
  ]);
});

it.each([
  ['another issuer is trusted', { issuer: 'https://other.example' }, 'token exchange', 'invalid_grant'],
  ['another role may sign', { allowedSubjects: [`${ROLE_ARN}-other`] }, 'signature', 'PERMISSION_DENIED'],
])('the examination names the step that fails if %s', async (_, trust, step, reason) => {
  const { examine, world, control } = await openFederated();
  const token = await world.webIdentity(`https:${PROVIDER}`);
  Object.assign(world, { webIdentity: async () => token });
  await control('federation', trust);
  const steps = await examine();
  expect(steps.at(-1)).toMatchObject({ step, failure: { kind: 'denied', reason } });
});

it('all steps of a read with a key succeed if all rights are delegated', async () => {
  const { examine } = await openWithKey();
  expect(linesOf(await examine())).toEqual(['credential', ...ALL_WORK]);
});

it.each(READ_ALL.map((scope) => [scope]))(
  'the examination names the right that needs the scope %s if this scope is missing',
  async (scope) => {
    const { examine, control } = await openWithKey();
    await control('delegation', { scopes: READ_ALL.filter((one) => one !== scope) });
    const failed = (await examine()).filter(({ failure }) => failure !== undefined);
    expect(failed).toMatchObject([{ failure: { kind: 'denied', reason: 'unauthorized_client' } }]);
    const right = failed[0]?.step.replace(/s$/, '') ?? '';
    expect(scope).toContain(right === 'report' ? 'reports' : right);
  },
);

it('the examination names the administrator if no scope is delegated, and if the administrator is suspended', async () => {
  const { examine, control } = await openWithKey();
  await control('delegation', { scopes: [] });
  expect(linesOf(await examine())).toEqual([
    'credential',
    'administrator: token: the directory answered 401 (unauthorized_client)',
  ]);
  await control('delegation', { scopes: READ_ALL });
  await control('changes', { kind: 'suspendUser', user: ADMIN });
  expect((await examine()).at(-1)).toMatchObject({
    step: 'administrator',
    failure: { reason: 'invalid_grant' },
  });
});

it('the examination names a right that it could not test because of a quota error', async () => {
  const { examine, control } = await openWithKey();
  await control('faults', [{ match: { path: '*/directory/v1/users/*' }, times: 30, error: 'quotaExceeded' }]);
  const failed = (await examine()).filter(({ failure }) => failure !== undefined);
  expect(failed).toMatchObject([{ step: 'users', failure: { kind: 'busy', reason: 'quotaExceeded' } }]);
});
