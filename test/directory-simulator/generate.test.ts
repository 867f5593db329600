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

  it('the generated directory contains suspended, archived and deleted people, and exactly one administrator', () => {
    expect(users.some(({ suspended }) => suspended)).toBe(true);
    expect(users.some(({ archived }) => archived)).toBe(true);
    expect(users.some(({ deletedAtMs }) => deletedAtMs !== null)).toBe(true);
    expect(users.filter(({ isAdmin }) => isAdmin)).toHaveLength(1);
  });

  it('the generated directory contains every kind of member, an empty group, and two groups with the same name', () => {
    expect(new Set(kinds)).toEqual(new Set(['user', 'group', 'externalUser', 'externalGroup', 'everyone']));
    expect(groups.some(({ members }) => members?.length === 0)).toBe(true);
    expect(new Set(groups.map(({ name }) => name)).size).toBeLessThan(groups.length);
    expect(new Set(groups.map(({ email }) => email)).size).toBe(groups.length);
  });

  it('the generated directory has nested groups of three levels, without a cycle', () => {
    const place = new Map(groups.map(({ id }, index) => [id, index]));
    const children = groups.map(({ members = [] }) =>
      members.flatMap(({ member, kind }) => (kind === 'group' ? [place.get(member) ?? -1] : [])),
    );
    expect(children.every((below, index) => below.every((child) => child > index))).toBe(true);
    const depth = (index: number): number => 1 + Math.max(0, ...(children[index] ?? []).map(depth));
    expect(depth(0)).toBeGreaterThanOrEqual(3);
  });

  it('a directory can be generated without people or groups', () => {
    expect(generateDirectory({ ...SIZE, people: 0, groups: 3 }).users).toEqual([]);
    expect(generateDirectory({ ...SIZE, groups: 0 }).groups).toEqual([]);
  });
});
