import { describe, expect, it } from 'vitest';
import { directoryOf, parseWorld } from '../../directory-simulator/engine/world.ts';
import { generateDirectory } from '../../directory-simulator/generate.ts';
import { entraWorld } from '../../directory-simulator/generate-entra.ts';
import { NOW_MS } from './entra/fixture.ts';

const generate = (seed: string) =>
  entraWorld(generateDirectory({ people: 80, groups: 30, seed, nowMs: NOW_MS }), seed);

describe('generated directory of Entra ID', () => {
  it('two directories of Entra ID generated with the same seed are equal, and their ids are GUIDs', () => {
    expect(generate('7')).toEqual(generate('7'));
    const { users = [], groups = [], customerId } = generate('7');
    const ids = [customerId, ...users.map(({ id }) => id), ...groups.map(({ id }) => id)];
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('a generated directory of Entra ID has guests, devices, service principals, and each type of group', () => {
    const { users = [], groups = [] } = generate('7');
    const kinds = new Set(groups.flatMap(({ members = [] }) => members.map(({ kind }) => kind)));
    expect([...kinds].toSorted()).toEqual(['device', 'group', 'servicePrincipal', 'user']);
    expect(users.some(({ vendorFields }) => vendorFields?.['userType'] === 'Guest')).toBe(true);
    const types = new Set(groups.map(({ vendorFields }) => String(vendorFields?.['groupTypes'] ?? '')));
    expect([...types].toSorted()).toEqual(['', 'DynamicMembership', 'Unified']);
    expect(groups.some(({ vendorFields }) => vendorFields?.['visibility'] === 'HiddenMembership')).toBe(true);
  });

  it('a generated directory of Entra ID has all members of its groups, and two groups that contain each other', () => {
    const world = parseWorld(generate('7'));
    const view = directoryOf(world).viewAt(NOW_MS);
    const [first, , third] = world.groups;
    const nestedIn = (id = '') =>
      view.members(id).flatMap(({ kind, memberId }) => (kind === 'group' ? [memberId] : []));
    expect(nestedIn(first?.id)).toContain(third?.id);
    expect(nestedIn(third?.id)).toContain(first?.id);
    const unknown = world.groups
      .flatMap(({ id }) => view.members(id))
      .filter(({ externalEmail }) => externalEmail);
    expect(unknown).toEqual([]);
  });
});
