import { expect, it } from 'vitest';
import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { generateDirectory } from '../../directory-simulator/generate.ts';
import { entraWorld } from '../../directory-simulator/generate-entra.ts';
import { oktaWorld } from '../../directory-simulator/okta/world.ts';
import { generateWorld } from '../../local/platform/generate-world.ts';
import { seededRandom } from '../../local/platform/seeded-random.ts';
import { NOW_MS } from './fixture.ts';

const SIZE = { people: 300, groups: 60, seed: '5', nowMs: NOW_MS };
const VENDORS: Readonly<Record<string, (seed: string, nowMs?: number) => WorldInput>> = {
  google: (seed, nowMs = NOW_MS) => generateDirectory({ ...SIZE, seed, nowMs }),
  entra: (seed, nowMs = NOW_MS) => entraWorld(generateDirectory({ ...SIZE, seed, nowMs }), seed),
  okta: (seed, nowMs = NOW_MS) => oktaWorld(generateDirectory({ ...SIZE, seed, nowMs }), seededRandom(seed)),
};

/** Returns the different values of a vendor field, or of the kinds of all members. */
const valuesOf = (items: WorldInput['users'] | WorldInput['groups'], field: string) =>
  [...new Set(items?.map(({ vendorFields }) => String(vendorFields?.[field] ?? '')))].toSorted();
const kindsOf = ({ groups = [] }: WorldInput) =>
  [...new Set(groups.flatMap(({ members = [] }) => members.map(({ kind }) => kind)))].toSorted();

it.each(Object.entries(VENDORS))(
  'two directories of %s generated with the same seed on the same day are equal, and have the people of the platform',
  (_, generate) => {
    const directory = generate('5');
    expect(generate('5', NOW_MS + 3_600_000)).toEqual(directory);
    expect(generate('6')).not.toEqual(directory);
    const employees = generateWorld(SIZE).companies[0]?.employees ?? [];
    const addresses = directory.users?.map(({ primaryEmail }) => primaryEmail);
    expect(addresses).toEqual(expect.arrayContaining(employees.map(({ workEmail }) => workEmail)));
  },
);

it('the generated directory of Entra ID has GUIDs, guests, devices, service principals, and each type of group', () => {
  const directory = entraWorld(generateDirectory(SIZE), '5');
  const { users = [], groups = [], customerId } = directory;
  const ids = [customerId, ...users.map(({ id }) => id), ...groups.map(({ id }) => id)];
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(ids).size).toBe(ids.length);
  expect(kindsOf(directory)).toEqual(['device', 'group', 'servicePrincipal', 'user']);
  expect(valuesOf(users, 'userType')).toContain('Guest');
  expect(valuesOf(groups, 'groupTypes')).toEqual(['', 'DynamicMembership', 'Unified']);
  expect(valuesOf(groups, 'visibility')).toContain('HiddenMembership');
});
