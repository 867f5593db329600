import { expect, it } from 'vitest';
import type { DirectoryStep } from '../../../../shared/directory/ports.ts';
import { createEntraDirectory } from '../../../../shared/directory/vendors/entra/vendor.ts';
import { SECRET } from '../../../directory-simulator/entra/fixture.ts';
import { FEDERATED, openEntra } from './reader.ts';

const RIGHTS = ['groups', 'members', 'users', 'reports'];

/** Returns the name of each step, with the reason of a failure. */
const linesOf = (steps: readonly DirectoryStep[]) =>
  steps.map(({ step, failure }) => (failure === undefined ? step : `${step}: ${failure.reason}`));

const tokenCalls = async ({ requests }: Awaited<ReturnType<typeof openEntra>>) =>
  (await requests()).filter(({ path }) => path.endsWith('/oauth2/v2.0/token')).length;

it.each([
  ['a client secret', {}],
  ['the role of the function', { credential: FEDERATED }],
])('the directory is read with %s', async (_, account) => {
  const entra = await openEntra({ account });
  expect((await entra.directory.group('g-emea'))?.name).toBe('EMEA');
  await entra.directory.group('g-sales');
  expect(await tokenCalls(entra)).toBe(1);
});

it.each([
  ['public', 'https://login.microsoftonline.com', 'https://graph.microsoft.com'],
  ['gccHigh', 'https://login.microsoftonline.us', 'https://graph.microsoft.us'],
  ['dod', 'https://login.microsoftonline.us', 'https://dod-graph.microsoft.us'],
  ['china', 'https://login.partner.microsoftonline.cn', 'https://microsoftgraph.chinacloudapi.cn'],
] as const)('a tenant in the cloud %s is read from %s and %s', async (cloud, login, graph) => {
  for (const credential of [{ kind: 'secret', clientSecret: SECRET } as const, FEDERATED]) {
    const { account, world, control, url } = await openEntra();
    await control('cloud', { cloud });
    const origins: unknown[] = [];
    const dispatcher = world.dispatcher.compose((dispatch) => (request, handler) => {
      origins.push(request.origin);
      return dispatch({ ...request, origin: url }, handler);
    });
    const options = { ...account, cloud, credential, baseUrl: undefined };
    const directory = createEntraDirectory(options, { ...world, dispatcher });
    expect((await directory.group('g-emea'))?.name).toBe('EMEA');
    expect(origins.map(String)).toEqual([login, graph]);
  }
});

it.each([
  ['a wrong secret', { credential: { kind: 'secret', clientSecret: 'other' } as const }, 'AADSTS7000215'],
  ['an unknown application', { clientId: 'other' }, 'AADSTS700016'],
  ['an unknown tenant', { tenant: 'other' }, 'AADSTS90002'],
  ['the scope of another cloud', { cloud: 'china' } as const, 'AADSTS500011'],
  [
    'another audience',
    { credential: { kind: 'federation', audience: 'api://other' } as const },
    'AADSTS700212',
  ],
])('the sign-in is denied with %s, and the message shows no credential', async (_, account, reason) => {
  const { directory } = await openEntra({ account });
  const failure = await directory.group('g-emea').catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind: 'denied', reason });
  expect(String(failure)).not.toMatch(/other|eyJ/);
});

it('every step succeeds with a client secret, and with the role of the function', async () => {
  const stored = await openEntra();
  expect(linesOf(await stored.examine())).toEqual(['credential', 'token exchange', ...RIGHTS]);
  const federated = await openEntra({ account: { credential: FEDERATED } });
  expect(linesOf(await federated.examine())).toEqual(['web identity', 'token exchange', ...RIGHTS]);
});

it.each([
  ['GroupMember.Read.All', ['groups', 'members', 'reports']],
  ['User.Read.All', ['members', 'users', 'reports']],
])('the examination names the calls that need the right %s if it is missing', async (right, names) => {
  const { examine, control } = await openEntra();
  const all = ['GroupMember.Read.All', 'User.Read.All', 'Member.Read.Hidden'];
  await control('rights', { roles: all.filter((one) => one !== right) });
  const failed = (await examine()).filter(({ failure }) => failure !== undefined);
  expect(failed.map(({ step }) => step)).toEqual(names);
  for (const { failure } of failed) expect(failure?.kind).toBe('denied');
});

it('the examination names the selected groups with hidden membership, if the right to read it is missing', async () => {
  const { examine, control, change } = await openEntra();
  const vendorFields = { groupTypes: ['Unified'], visibility: 'HiddenMembership' };
  await change(
    { kind: 'changeGroup', group: 'g-sales', vendorFields },
    { kind: 'changeGroup', group: 'g-emea', vendorFields },
  );
  const isSales = ({ id }: { readonly id: string }) => id === 'g-sales';
  expect(linesOf(await examine(isSales))).toEqual(['credential', 'token exchange', ...RIGHTS]);
  await control('rights', { roles: ['GroupMember.Read.All', 'User.Read.All'] });
  const failed = (await examine(isSales)).filter(({ failure }) => failure !== undefined);
  const message =
    'the membership of selected groups is hidden: g-sales: expected the right Member.Read.Hidden';
  expect(failed).toMatchObject([{ step: 'members', failure: { kind: 'invalid', message } }]);
  expect(linesOf(await examine(() => false))).toEqual(['credential', 'token exchange', ...RIGHTS]);
});

it.each([
  ['another issuer is trusted', { issuer: 'https://other.example' }, 'AADSTS700211'],
  ['another role is trusted', { subject: 'arn:aws:iam::111122223333:role/other' }, 'AADSTS700213'],
])('the examination names the step that fails if %s', async (_, trust, reason) => {
  const { examine, world, control } = await openEntra({ account: { credential: FEDERATED } });
  const token = await world.webIdentity('api://AzureADTokenExchange');
  Object.assign(world, { webIdentity: async () => token });
  await control('federation', trust);
  expect(linesOf(await examine())).toEqual(['web identity', `token exchange: ${reason}`]);
});
