import { describe, expect, it } from 'vitest';
import { REALISTIC_SETTINGS } from '../../../directory-simulator/engine/settings.ts';
import type { WorldInput } from '../../../directory-simulator/engine/world.ts';
import type { DirectoryKind } from '../../../shared/contract/directory-settings.ts';
import type { Directory, DirectoryMember } from '../../../shared/directory/ports.ts';
import { groupId } from '../../../shared/domain/ids.ts';
import { TENANT } from '../../directory-simulator/entra/fixture.ts';
import type { Options } from '../../directory-simulator/simulated.ts';
import { openEntra } from './entra/reader.ts';
import { allOf, openGoogle } from './google/reader.ts';
import { openOkta } from './okta/reader.ts';

interface Opened {
  readonly directory: Directory;
  readonly clock: { ms: number };
  readonly requests: () => Promise<readonly { readonly path: string }[]>;
  readonly control: (name: string, body?: unknown) => Promise<unknown>;
}

/** A fault of the simulated directory, and the kind of error that the reader then reports. */
type FaultCase = readonly [what: string, kind: string, fault: object];

/** What differs between the vendors. All tests of this file hold for each vendor. */
interface Vendor {
  readonly open: (options?: Options) => Promise<Opened>;
  readonly sales: string;
  /** The users and groups that are members of the group `sales`, if the nested groups are flattened. */
  readonly memberCount: number;
  /** The pattern of the paths of lists of members. */
  readonly membersPath: string;
  readonly groupsPath: string;
  readonly deletedGroup: string;
  /** Bodies of errors whose code is free text. */
  readonly freeText: readonly object[];
  readonly bigWorld: (users: NonNullable<WorldInput['users']>) => WorldInput;
  readonly temporary: readonly string[];
  /** The end of the path of the sign-in. */
  readonly tokenPath: string;
  readonly faults: readonly FaultCase[];
}

const CONTEXT = '"@odata.context":"https://graph.microsoft.com/v1.0/$metadata#users"';
const membersOf = (users: NonNullable<WorldInput['users']>) => users.map(({ id }) => ({ member: id }));

const VENDORS: Readonly<Record<DirectoryKind, Vendor>> = {
  google: {
    open: ({ world, ...options } = {}) =>
      openGoogle(world === undefined ? options : { ...options, world, administrator: 'u0@example.com' }),
    sales: 'g-sales',
    memberCount: 5,
    membersPath: '*/members',
    groupsPath: '*/groups/*',
    deletedGroup: 'g-gone',
    freeText: [
      { error: { errors: [{ reason: 'Liz <liz@example.com>' }] } },
      { error: { status: 'Liz <liz@example.com>' } },
      { error: 'not_of_the_api' },
    ],
    bigWorld: (users) => ({
      users: users.map((user, index) => ({ ...user, isAdmin: index === 0 })),
      groups: [{ id: 'big', email: 'g@example.com', members: membersOf(users) }],
    }),
    temporary: ['quotaExceeded', 'backendError'],
    tokenPath: '/token',
    faults: [
      ['an error of the credential', 'denied', { error: 'authError' }],
      ['a missing right', 'denied', { error: 'insufficientPermissions' }],
      ['a refusal of the resource', 'denied', { error: 'forbidden' }],
      ['an exhausted quota', 'busy', { error: 'quotaExceeded' }],
      ['a limit of calls', 'busy', { error: 'userRateLimitExceeded' }],
      ['a failure of the server', 'unavailable', { error: 'backendError' }],
      ['an incomplete body', 'unavailable', { status: 200, body: '{"kind":"admin#directory#members","memb' }],
      [
        'an error with the status 200',
        'invalid',
        { status: 200, body: '{"error":{"code":403},"members":[]}' },
      ],
      ['null as list', 'invalid', { status: 200, body: '{"kind":"admin#directory#members","members":null}' }],
      ['the list of another resource', 'invalid', { status: 200, body: '{"kind":"admin#directory#groups"}' }],
      ['a refused page token', 'invalid', { error: 'badRequest' }],
    ],
  },
  entra: {
    open: openEntra,
    sales: 'g-sales',
    memberCount: 4,
    membersPath: '*/members/*',
    groupsPath: '*/groups/*',
    deletedGroup: 'g-gone',
    freeText: [{ error: { code: 'Liz <liz@example.com>' } }],
    bigWorld: (users) => ({
      customerId: TENANT,
      users,
      groups: [{ id: 'big', email: 'g@c.example', members: membersOf(users) }],
    }),
    temporary: ['tooManyRequests', 'gatewayTimeout'],
    tokenPath: '/oauth2/v2.0/token',
    faults: [
      ['an access token that is not valid', 'denied', { error: 'invalidAuthenticationToken' }],
      ['a missing right', 'denied', { error: 'authorizationRequestDenied' }],
      ['a limit of calls', 'busy', { error: 'tooManyRequests' }],
      ['a failure of the server', 'unavailable', { error: 'serviceNotAvailable' }],
      ['a gateway that ends the request', 'unavailable', { error: 'gatewayTimeout' }],
      ['an incomplete body', 'unavailable', { status: 200, body: `{${CONTEXT},"value":[` }],
      ['a list without its context', 'invalid', { status: 200, body: '{"value":[]}' }],
      [
        'an error with the status 200',
        'invalid',
        { status: 200, body: `{${CONTEXT},"error":{},"value":[]}` },
      ],
      ['null as list', 'invalid', { status: 200, body: `{${CONTEXT},"value":null}` }],
      ['a refused page token', 'invalid', { error: 'expiredPageToken' }],
      [
        'a link to another host',
        'invalid',
        { status: 200, body: `{${CONTEXT},"@odata.nextLink":"https://evil.example/v1.0/x","value":[]}` },
      ],
      [
        'a user whose properties are hidden',
        'denied',
        {
          status: 200,
          body: `{${CONTEXT},"value":[{"id":"u","userPrincipalName":null,"accountEnabled":null}]}`,
        },
      ],
    ],
  },
  okta: {
    open: openOkta,
    sales: '00gsales',
    memberCount: 8,
    membersPath: '*/users',
    groupsPath: '/api/v1/groups/*',
    deletedGroup: '00ggone',
    freeText: [{ errorCode: 'Liz <liz@example.com>' }],
    bigWorld: (users) => ({
      users,
      groups: [{ id: 'big', email: 'g@x', name: 'Big', members: membersOf(users) }],
    }),
    temporary: ['internalError', 'badGateway'],
    tokenPath: '/oauth2/v1/token',
    faults: [
      ['a refused token', 'denied', { error: 'invalidToken' }],
      ['a missing right', 'denied', { error: 'accessDenied' }],
      ['a limit of calls', 'busy', { error: 'tooManyRequests' }],
      ['a failure of the server', 'unavailable', { error: 'internalError' }],
      ['an incomplete body', 'unavailable', { status: 200, body: '[{"id":"00uliz","sta' }],
      ['null as list', 'invalid', { status: 200, body: 'null' }],
      ['an error with the status 200', 'invalid', { status: 200, body: '{"errorCode":"E0000006"}' }],
      ['an empty list without links', 'invalid', { status: 200, body: '[]' }],
      ['a refused cursor', 'invalid', { error: 'apiValidationFailed' }],
    ],
  },
};

const FAULTS: readonly FaultCase[] = [
  ['the page of a proxy', 'unavailable', { status: 200, body: '<html>Sign in</html>' }],
  ['an empty object', 'invalid', { status: 200, body: '{}' }],
  // A redirect could send the token to another host.
  ['a redirect', 'invalid', { status: 302 }],
];

const keyOf = (member: DirectoryMember) => (member.kind === 'user' ? member.user.id : member.kind);

describe.each(Object.entries(VENDORS))('directory of %s', (_, vendor) => {
  const { open, sales, memberCount, membersPath, groupsPath, deletedGroup } = vendor;
  const readSales = ({ directory }: Opened) => allOf(directory.membersOf(groupId(sales), 'flatten'));
  const faulty = async (path: string, fault: object) => {
    const opened = await open();
    await opened.control('faults', [{ match: { path }, times: 10, ...fault }]);
    return opened;
  };

  it('a deleted group is undefined, and a read of its members gives an error of the kind missing', async () => {
    const { directory } = await open();
    expect(await directory.group(sales)).toMatchObject({ id: sales, name: 'Sales' });
    expect(await directory.group(deletedGroup)).toBeUndefined();
    const read = allOf(directory.membersOf(groupId(deletedGroup), 'flatten'));
    await expect(read).rejects.toMatchObject({ kind: 'missing' });
  });

  it.each(['1', '2', '3'])(
    'all members are read despite small, empty and repeated pages, unknown fields, limits and failures (seed %s)',
    async (seed) => {
      const users = Array.from({ length: 700 }, (_, n) => ({
        id: `u${n}`,
        primaryEmail: `u${n}@example.com`,
      }));
      const difficult = { ...REALISTIC_SETTINGS, failures: 0.1, emptyPages: 0.3, repeatedItems: 0.5 };
      const { directory } = await open({ seed, settings: difficult, world: vendor.bigWorld(users) });
      const members = await allOf(directory.membersOf(groupId('big'), 'ignore'));
      expect(new Set(members.map(keyOf)).size).toBe(700);
    },
  );

  it.each([...FAULTS, ...vendor.faults])(
    'a failed read does not return an empty group: %s gives an error of the kind %s',
    async (_, kind, fault) => {
      const failure = await readSales(await faulty(membersPath, fault)).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: 'DirectoryError', kind });
      expect(String(failure)).not.toMatch(/@(?!odata)|Sales|SSWS|eyJ|simulated-client-secret/);
    },
  );

  it('a read is repeated after temporary errors', async () => {
    const opened = await open();
    const [first, second] = vendor.temporary;
    await opened.control('faults', [
      { match: { path: membersPath }, times: 2, error: first },
      { match: { path: membersPath }, times: 1, error: second },
    ]);
    expect(await readSales(opened)).toHaveLength(memberCount);
  });

  it('the reader uses one token for many calls, and requests a new token after it expires or is refused', async () => {
    const { directory, control, requests, clock } = await open();
    const signIns = async () =>
      (await requests()).filter(({ path }) => path.endsWith(vendor.tokenPath)).length;
    await directory.group(sales);
    await directory.group(sales);
    expect(await signIns()).toBe(1);
    clock.ms += 3_400_000;
    await directory.group(sales);
    expect(await signIns()).toBe(2);
    await control('access-tokens/expire');
    expect(await directory.group(sales)).toMatchObject({ name: 'Sales' });
    expect(await signIns()).toBe(3);
  });

  it('the sign-in is repeated after an error of the server, a limit and an incomplete answer', async () => {
    const { directory, control } = await open();
    const match = { path: `*${vendor.tokenPath}` };
    for (const fault of [{ status: 503 }, { status: 429 }, { status: 200, body: '{"access_tok' }]) {
      await control('faults', [{ match, times: 1, ...fault }]);
      await control('access-tokens/expire');
      expect(await directory.group(sales)).toMatchObject({ name: 'Sales' });
    }
  });

  it('the message of a denied sign-in quotes no error code that is free text', async () => {
    const { directory, control } = await open();
    const body = { error: 'Liz <liz@example.com>' };
    await control('faults', [{ match: { path: `*${vendor.tokenPath}` }, times: 9, status: 400, body }]);
    const failure = await directory.group(sales).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'denied', reason: undefined });
    expect(String(failure)).toMatch(/: the directory answered 400$/);
  });

  it('a 404 without an error of the API does not prove that a group is gone', async () => {
    const { directory } = await faulty(groupsPath, { status: 404, body: '<html>' });
    await expect(allOf(directory.membersOf(groupId(sales), 'ignore'))).rejects.toMatchObject({
      kind: 'invalid',
    });
    const { directory: other } = await faulty('*/groups*', { status: 404, body: '<html>' });
    await expect(other.group(sales)).rejects.toMatchObject({ kind: 'invalid' });
  });

  it.each(vendor.freeText)('an error message quotes no error code that is free text: %j', async (body) => {
    const opened = await faulty(membersPath, { status: 400, body });
    const failure = await readSales(opened).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: 'invalid', reason: undefined });
    expect(String(failure)).toMatch(/: the directory answered 400$/);
  });
});
