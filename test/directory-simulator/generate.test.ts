import { describe, expect, it } from 'vitest';
import { generateDirectory } from '../../directory-simulator/generate.ts';
import { generateWorld } from '../../local/platform/generate-world.ts';
import { NOW_MS } from './fixture.ts';

const SIZE = { people: 300, groups: 60, seed: '5', nowMs: NOW_MS };
const directory = generateDirectory(SIZE);
const users = directory.users ?? [];
const groups = directory.groups ?? [];
const kinds = groups.flatMap(({ members = [] }) => members.map(({ kind }) => kind));

describe('generated directory', () => {
  it('two directories generated with the same seed on the same day are equal, and another seed gives another directory', () => {
    expect(generateDirectory({ ...SIZE, nowMs: NOW_MS + 3_600_000 })).toEqual(directory);
    expect(generateDirectory({ ...SIZE, seed: '6' })).not.toEqual(directory);
  });

  it('the generated directory contains the people of the platform that is generated with the same seed', () => {
    const employees = generateWorld(SIZE).companies[0]?.employees ?? [];
    expect(users.map(({ primaryEmail }) => primaryEmail)).toEqual(
      employees.map(({ workEmail }) => workEmail),
    );
  });

  it('the generated directory contains every kind of member, an empty group, and two groups with the same name', () => {
    expect(new Set(kinds)).toEqual(new Set(['user', 'group', 'externalUser', 'externalGroup', 'everyone']));
    expect(groups.some(({ members }) => members?.length === 0)).toBe(true);
    expect(new Set(groups.map(({ name }) => name)).size).toBeLessThan(groups.length);
    expect(new Set(groups.map(({ email }) => email)).size).toBe(groups.length);
  });
});
