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
