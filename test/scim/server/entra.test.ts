import { beforeEach, expect, it } from 'vitest';
import { memberId } from '../../../shared/domain/ids.ts';
import { remove, replace } from '../../support/scim-operations.ts';
import { type Client, createWorld, ENTERPRISE, GROUP, USER } from './support/server.ts';

/* These tests send the requests of Microsoft Entra ID, and check the state after each request. */

const ENTRA_GROUP = 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group';

let world: ReturnType<typeof createWorld>;
let entra: Client;
let u1: string;
let u2: string;
let group: string;

const desired = () => world.desired(group);
const refs = (...ids: string[]) => ids.map((value) => ({ $ref: null, value }));
const patch = (...operations: unknown[]) => entra.patch(`/Groups/${group}`, operations);

beforeEach(async () => {
  world = createWorld();
  entra = await world.client();
  const user = async (userName: string) =>
    (
      await entra.post('/Users', {
        schemas: [USER, ENTERPRISE],
        externalId: `ext-${userName}`,
        userName,
        active: true,
        emails: [{ primary: true, type: 'work', value: userName }],
        [ENTERPRISE]: { employeeNumber: '7' },
      })
    ).body.id;
  u1 = await user('u1@acme.test');
  u2 = await user('u2@acme.test');
  const created = await entra.post('/Groups', {
    schemas: [GROUP, ENTRA_GROUP],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'Sales',
    meta: { resourceType: 'Group' },
  });
  expect(created.status).toBe(201);
  group = created.body.id;
});

beforeEach(() => patch({ op: 'Add', path: 'members', value: refs(u1, u2) }));

it.each([
  ['False', 'True'],
  [false, true],
])('the value %j deactivates a user, and the value %j activates the user', async (off, on) => {
  world.woken.length = 0;
  await entra.patch(`/Users/${u1}`, [{ op: 'Replace', path: 'active', value: off }]);
  expect(world.woken).toContainEqual({ connection: 'default', group });
  // Only true activates a user. A missing value does not.
  for (const operation of [remove('active'), replace('active', null)]) {
    expect((await desired())?.members).toEqual([u2]);
    await entra.patch(`/Users/${u1}`, [operation]);
    expect((await entra.get(`/Users/${u1}`)).body).not.toHaveProperty('active', true);
  }
  expect((await desired())?.members).toEqual([u2]);
  await entra.patch(`/Users/${u1}`, [{ op: 'Replace', path: 'active', value: on }]);
  expect((await entra.get(`/Users/${u1}`)).body.active).toBe(true);
  expect((await desired())?.members).toEqual([u1, u2].sort());
});

it('the attributes of users are stored for matching until a request removes them', async () => {
  expect(await facts(u1)).toEqual({
    userName: 'u1@acme.test',
    email: 'u1@acme.test',
    otherEmails: '',
    externalId: 'ext-u1@acme.test',
    employeeNumber: '7',
    type: '',
    department: '',
    'scim:active': 'true',
  });
  await entra.patch(`/Users/${u1}`, [
    { op: 'Remove', path: 'emails' },
    { op: 'Remove', path: `${ENTERPRISE}:employeeNumber` },
  ]);
  expect(await facts(u1)).toMatchObject({
    // A userName that is an address counts as an e-mail address.
    email: 'u1@acme.test',
    employeeNumber: '',
    externalId: 'ext-u1@acme.test',
  });
});

it('additional addresses are stored after the primary address, in their order', async () => {
  await entra.patch(`/Users/${u1}`, [
    {
      op: 'Replace',
      path: 'emails',
      value: [
        { type: 'work', value: 'work@acme.test' },
        { type: 'home', value: '\u200bhome@acme.test', primary: true },
        { type: 'other', value: ' other@acme.test' },
        { type: 'blank', value: ' ' },
      ],
    },
  ]);
  expect(await facts(u1)).toMatchObject({
    email: 'home@acme.test',
    otherEmails: 'work@acme.test other@acme.test',
  });
  await entra.patch(`/Users/${u1}`, [{ op: 'Remove', path: 'emails' }]);
  expect(await facts(u1)).toMatchObject({ email: 'u1@acme.test', otherEmails: '' });
});

it.each(['POST', 'PUT', 'PATCH add', 'PATCH replace', 'PATCH without a path'])(
  'two primary addresses in a %s are refused, and change nothing',
  async (how) => {
    const before = await facts(u1);
    const value = ['a', 'b'].map((name) => ({ type: name, value: `${name}@acme.test`, primary: 'True' }));
    const [method = '', op = ''] = how.split(' ');
    const operation =
      op === 'without' ? { op: 'add', value: { emails: value } } : { op, path: 'emails', value };
    const body = method === 'PATCH' ? { Operations: [operation] } : { userName: 'u9', emails: value };
    const answer = await entra.send(method, method === 'POST' ? '/Users' : `/Users/${u1}`, body);
    expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect(answer.body.detail).toBe('emails: expected at most one primary value');
    expect(await facts(u1)).toEqual(before);
  },
);

it.each(['POST', 'PUT', 'PATCH'])('a %s may wrap each value in a list of one object', async (method) => {
  const wrapped = (value: string) => [{ $ref: null, value }];
  const values = { userName: wrapped('u8'), active: wrapped('False'), externalId: wrapped('e8') };
  const Operations = Object.entries(values).map(([path, value]) => ({ op: 'Replace', path, value }));
  const path = method === 'POST' ? '/Users' : `/Users/${u1}`;
  const { body } = await entra.send(method, path, method === 'PATCH' ? { Operations } : values);
  expect(body).toMatchObject({ userName: 'u8', active: false, externalId: 'e8' });
  expect(await facts(body.id)).toMatchObject({ userName: 'u8', 'scim:active': 'false' });
});

async function facts(id: string) {
  const read = await world.ports.users.read('default' as never, [memberId(id)]);
  return Object.fromEntries(
    [...(read.get(memberId(id))?.attributes ?? [])].map(([name, { value }]) => [name, value]),
  );
}
