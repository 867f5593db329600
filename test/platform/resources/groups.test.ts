import { expect, it } from 'vitest';
import { InvalidRequestError } from '../../../shared/platform/errors.ts';
import { rig } from '../support/platform-client.ts';

const GROUP = { id: 'g1', name: 'Ops', spokeId: 'd1', users: ['u1'], version: 'v1' };
const sent = (text: string | undefined): unknown => JSON.parse(text ?? '');

it('patch sends the version and only the given fields', async () => {
  const { client, platform } = await rig(() => ({ body: GROUP }));
  await client.groups.patch('g1', { users: [], version: 'v0' });
  await client.groups.patch('g1', { name: 'Ops', users: undefined, version: 'v0' });
  expect(platform.seen.map(({ text }) => sent(text))).toEqual([
    { users: [], version: 'v0' },
    { name: 'Ops', version: 'v0' },
  ]);
});

it.each<[string, object]>([
  ['no version', { name: 'Ops' }],
  ['an empty version', { name: 'Ops', version: '' }],
  ['only a version', { version: 'v0' }],
  ['an empty name', { name: '', version: 'v0' }],
  ['users that are null', { users: null, version: 'v0' }],
  ['an unknown field', { name: 'Ops', version: 'v0', members: [] }],
])('patch with %s fails and sends no request', async (_, change) => {
  const { client, platform } = await rig(() => ({ body: GROUP }));
  await expect(client.groups.patch('g1', change as never)).rejects.toBeInstanceOf(InvalidRequestError);
  expect(platform.seen).toEqual([]);
});

it.each(['name', 'spokeId', 'users', 'version'])('replace without %s sends no request', async (field) => {
  const { client, platform } = await rig(() => ({ body: GROUP }));
  const whole = { name: 'Ops', spokeId: 'd1', users: [], version: 'v0', [field]: undefined };
  await expect(client.groups.replace('g1', whole as never)).rejects.toThrow(field);
  expect(platform.seen).toEqual([]);
});

it.each<[number, unknown]>([
  [200, ''],
  [200, 'deleted'],
  [202, { ok: true }],
  [204, undefined],
])('delete returns "deleted" if the answer has the status %i and the body %j', async (status, body) => {
  const { client } = await rig(() => ({ status, body }));
  await expect(client.groups.delete('g1')).resolves.toBe('deleted');
});

// Each answer is text, because JavaScript would round some of the numbers.
it.each<[string, string | number]>([
  ['"v1"', 'v1'],
  ['"7"', '7'],
  ['7', 7],
  ['0', 0],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740993', 'number:9007199254740993'],
  ['1764161828000000001', 'number:1764161828000000001'],
  ['1.0', 'number:1.0'],
  ['1e400', 'number:1e400'],
  ['"number:7"', 'text:number:7'],
  ['"text:7"', 'text:text:7'],
])('patch and replace send the received version %s unchanged', async (version, held) => {
  const answer = `{"id":"g1","name":"a \\"version\\": 1.0","users":[],"version" : ${version}}`;
  const { client, platform } = await rig(() => ({ body: answer }));
  const group = await client.groups.get('g1');
  expect(group).toMatchObject({ name: 'a "version": 1.0', version: held });
  await client.groups.patch('g1', { name: group.name, version: group.version });
  await client.groups.replace('g1', { name: 'Ops', spokeId: null, users: [], version: group.version });
  const [patched, replaced] = platform.seen.slice(-2).map(({ text }) => text ?? '');
  expect(patched).toContain(`"version":${version}`);
  expect(patched).toContain('"name":"a \\"version\\": 1.0"');
  expect(replaced).toContain(`"version":${version}`);
});

it('list distinguishes numeric versions that JavaScript rounds to the same number', async () => {
  const listed = ['9007199254740992', '9007199254740993'].map(
    (version, at) => `{"id":"g${at}","name":"Ops","users":[],"version":${version}}`,
  );
  const { client } = await rig(() => ({ body: `[${listed}]` }));
  const groups = await client.groups.list();
  expect(groups.map((group) => 'version' in group && group.version)).toEqual([
    'number:9007199254740992',
    'number:9007199254740993',
  ]);
});

it.each(['true', '{}', '""', 'null'])('get fails if the version of the group is %s', async (version) => {
  const answer = `{"id":"g1","name":"Ops","users":[],"version":${version}}`;
  const { client } = await rig(() => ({ body: answer }));
  await expect(client.groups.get('g1')).rejects.toThrow('version');
});

it.each([undefined, null])('list returns null for a spokeId of %j', async (spokeId) => {
  const { client } = await rig(() => ({ body: [{ ...GROUP, spokeId }] }));
  await expect(client.groups.list()).resolves.toEqual([{ ...GROUP, spokeId: null }]);
});
