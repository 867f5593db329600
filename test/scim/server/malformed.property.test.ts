import fc from 'fast-check';
import { expect, it } from 'vitest';
import { always } from '../../support/engine/runs.ts';
import { createWorld, ERROR, fullUser, GROUP } from './support/server.ts';

/*
 * A valid request gets an arbitrary value in one place of its body. The answer is a success, or an error that names the
 * expected value.
 */

const VALUES = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom('', ' ', '\ud800', '\u0000', 'x'.repeat(5_000), '__proto__', '('.repeat(50), 1e300, -1),
);
const OPERATIONS = [
  { op: 'add', path: 'members', value: [{ value: 'm1' }] },
  { op: 'remove', path: 'members[value eq "m2"]' },
  { op: 'replace', path: 'displayName', value: 'B' },
  { op: 'replace', value: { members: [{ value: 'm3', type: 'User' }], externalId: 'x' } },
];
const USER_OPERATIONS = [
  { op: 'Replace', path: 'emails[type eq "work"].value', value: 'b@x.test' },
  { op: 'replace', value: { 'name.givenName': 'G', active: 'False' } },
  { op: 'Remove', path: 'name.familyName' },
];
const groupOf = (displayName: string, members: object[]) => ({ schemas: [GROUP], displayName, members });

const REQUESTS = [
  ['POST', '/Users', fullUser('bob')],
  ['PUT', '/Users/id000001', fullUser('ann')],
  ['PATCH', '/Users/id000001', { Operations: USER_OPERATIONS }],
  ['POST', '/Groups', groupOf('B', [{ value: 'm1' }, { value: 'm2', type: 'User' }])],
  ['PUT', '/Groups/gid000002', groupOf('A', [{ value: 'm2' }])],
  ['PATCH', '/Groups/gid000002', { Operations: OPERATIONS }],
] as const;

type Json = { [name: string]: Json } | Json[] | string | number | boolean | null;

/** Returns every place of a body. A place is the list of names and indexes that lead to a value. */
function placesOf(body: Json): readonly (readonly string[])[] {
  if (typeof body !== 'object' || body === null) return [[]];
  return [
    [],
    ...Object.entries(body).flatMap(([name, part]) => placesOf(part).map((place) => [name, ...place])),
  ];
}

function withValue(body: Json, [name, ...rest]: readonly string[], value: Json): Json {
  if (name === undefined) return value;
  const copy = structuredClone(body) as { [name: string]: Json };
  copy[name] = withValue(copy[name] ?? null, rest, value);
  return copy;
}

const ALL = REQUESTS.flatMap(([method, path, body]) =>
  placesOf(body as unknown as Json).map((place) => ({ method, path, body: body as unknown as Json, place })),
);

async function answerTo(method: string, path: string, body: Json) {
  const world = createWorld({ storeProfile: true });
  const client = await world.client();
  await client.post('/Users', fullUser('ann'));
  await client.post('/Groups', groupOf('A', [{ value: 'm1' }, { value: 'm2' }]));
  return client.send(method, path, JSON.stringify(body));
}

it.each(REQUESTS)('the unchanged request succeeds: %s %s', async (method, path, body) => {
  expect((await answerTo(method, path, body as unknown as Json)).status).toBeLessThan(300);
});

always(
  'any value in any place of a body is accepted, or causes an error that names the expected value',
  fc.asyncProperty(fc.constantFrom(...ALL), VALUES, async ({ method, path, body, place }, value) => {
    const answer = await answerTo(method, path, withValue(body, place, value as Json));
    if (answer.status < 400) return;
    expect(answer.status).toBeLessThan(500);
    const detail = expect.stringContaining('expected');
    expect(answer.body).toMatchObject({ schemas: [ERROR], status: String(answer.status), detail });
  }),
);
