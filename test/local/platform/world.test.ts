import { expect, test } from 'vitest';
import { generateWorld } from '../../../local/platform/generate-world.ts';
import { parseWorld, World } from '../../../local/platform/state/world.ts';
import { NOW_MS, startSimulator } from './fixture.ts';

const company = { id: 'c', name: 'C' };

test.each([
  [{}, 'companies: '],
  [{ companies: [{ ...company, groups: [{ name: 'G', users: [1] }] }] }, 'companies[0].groups[0].users[0]: '],
  [{ companies: [company, company] }, 'companies[1].id: this value is used twice'],
  [
    { companies: [company], credentials: [{ token: 't', kind: 'api_key', company: 'x' }] },
    'credentials[0].company: expected the id or the name',
  ],
  [
    { companies: [company], credentials: [{ token: 't', kind: 'api_key', employee: 'r' }] },
    'credentials[0].employee: ',
  ],
])('the world %j is refused, and the error names the path of the field', (world, message) => {
  const start = () => startSimulator({ world: parseWorld(world) });
  expect(start).toThrow(message);
  expect(start).not.toThrow('\n');
});

const size = { people: 600, groups: 60, seed: '7', nowMs: NOW_MS };

test('the generated world has the requested size and is consistent', () => {
  const world = World.parse(generateWorld(size));
  const [only] = world.companies;
  expect([only?.employees.length, only?.groups.length]).toEqual([600, 60]);
  const byId = new Map(only?.employees.map((one) => [one.id, one]));
  const managers = only?.employees.flatMap((one) => one.manager ?? []) ?? [];
  expect(managers.filter((id) => byId.get(id)?.isManager !== true)).toEqual([]);
  expect(new Set(only?.employees.map((one) => one.workEmail)).size).toBe(600);
  const states = new Set(only?.employees.map((one) => one.roleState));
  expect(states).toContain('TERMINATED');
  const departments = new Set(only?.departments.map((one) => one.name));
  expect(only?.employees.filter((one) => !departments.has(one.department ?? ''))).toEqual([]);
  expect(new Set(only?.groups.map((group) => group.name)).size).toBe(60);
  expect(world.credentials.map((one) => one.kind).sort()).toEqual([
    'api_key',
    'api_key',
    'oauth_app',
    'oauth_app',
  ]);
});
