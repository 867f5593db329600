import { expect, it } from 'vitest';
import { ACTION_ACCESS, QUERY_ACCESS, requireAccess } from '../../console/server/access.ts';
import { ACTIONS } from '../../console/server/actions.ts';
import { createHandle } from '../../console/server/handle.ts';
import { QUERIES } from '../../console/server/queries.ts';
import { hasClaim, roleFor, rolesOf } from '../../console/server/roles.ts';
import { ROLES, type Role } from '../../shared/contract/console.ts';
import { connectionName } from '../../shared/domain/ids.ts';

const acme = connectionName('acme');
const rule = (value: string, role: Role, connections?: string[]) => ({
  claim: 'groups',
  value,
  role,
  ...(connections && { connections }),
});

const rules = [
  rule('all', 'viewer'),
  rule('acme-approvers', 'approver', ['acme']),
  rule('acme-admins', 'administrator', ['acme']),
  rule('operators', 'operator'),
];
it.each([
  ['no group', [], undefined, undefined],
  ['a group for all connections', ['all'], 'viewer', 'viewer'],
  ['a group for one connection', ['acme-approvers'], 'approver', undefined],
  ['two groups: the higher role wins', ['acme-admins', 'acme-approvers', 'all'], 'administrator', 'viewer'],
  ['a role for one, and a higher one for all', ['acme-approvers', 'operators'], 'operator', 'operator'],
])('%s', (_, groups, ofAcme, ofOther) => {
  const person = { roles: rolesOf({ groups }, rules) };
  expect(roleFor(person, acme)).toBe(ofAcme);
  expect(roleFor(person, connectionName('other'))).toBe(ofOther);
});

it('a claim matches a rule only if one of its values, as text, equals the value of the rule exactly', () => {
  expect(hasClaim({ groups: 'a' }, 'groups', 'a')).toBe(true);
  expect(hasClaim({ email_verified: true }, 'email_verified', 'true')).toBe(true);
  for (const groups of ['ab', 'a,b', ['A'], [['a']], { a: 'a' }, null, undefined, 1])
    expect(hasClaim({ groups }, 'groups', 'a')).toBe(false);
  expect(hasClaim({}, 'constructor', 'a')).toBe(false);
  expect(roleFor({ roles: {} }, connectionName('constructor'))).toBeUndefined();
});

it('every query and action of the page needs a role', () => {
  expect(Object.keys(QUERY_ACCESS).sort()).toEqual(Object.keys(QUERIES).sort());
  expect(Object.keys(ACTION_ACCESS).sort()).toEqual(Object.keys(ACTIONS).sort());
});

const may = (role: Role, access: Parameters<typeof requireAccess>[2]) => {
  try {
    requireAccess({ id: 'ann', roles: { acme: role, other: 'viewer' } }, acme, access);
    return true;
  } catch {
    return false;
  }
};
it.each([
  ['viewer', []],
  ['approver', ['approve', 'reject']],
] as const)('a %s of one connection may do only the actions %j', (role, actions) => {
  const allowed = Object.keys(ACTION_ACCESS).filter((name) => may(role, ACTION_ACCESS[name]));
  expect(allowed).toEqual(actions);
  expect(may(role, QUERY_ACCESS['hold'])).toBe(true);
});
it('requests and sessions need an administrator, doctor an operator, and dead-lettered messages a role for all connections', () => {
  for (const access of [
    ACTION_ACCESS['decide-requests'],
    ACTION_ACCESS['end-sessions'],
    QUERY_ACCESS['sessions'],
  ])
    expect(ROLES.filter((role) => may(role, access))).toEqual(['administrator']);
  for (const name of ['validate', 'amend', 'discard', 'replay'])
    expect(may('administrator', ACTION_ACCESS[name])).toBe(false);
  expect(may('administrator', QUERY_ACCESS['deadLetters'])).toBe(false);
  expect(ROLES.filter((role) => may(role, QUERY_ACCESS['doctor']))).toEqual(['operator', 'administrator']);
});

it('a request without the required role is refused before any port is used', async () => {
  const ports = new Proxy({}, { get: (_, name) => expect.fail(`used ${String(name)}`) });
  const handle = createHandle({
    prefix: 'groupsync',
    ports: ports as never,
    portsOf: () => ports as never,
    describe: (error) => (error as Error).message,
    formatCommands: (text) => text,
  });
  const person = { id: 'ann', roles: { acme: 'viewer' } } as const;
  const ask = (path: string, method = 'GET') =>
    handle(new Request(`https://console.test${path}`, { method }), person);
  const refused = await ask('/api/approve?connection=acme', 'POST');
  expect(refused.status).toBe(403);
  expect(await refused.json()).toEqual({
    message: 'this needs the role approver; you have the role viewer for acme',
  });
  for (const path of ['home', 'live', 'hold', 'deadLetters'])
    expect((await ask(`/api/${path}?connection=other`)).status).toBe(403);
  expect((await ask('/api/doctor?connection=acme')).status).toBe(403);
  expect((await ask('/api/toString?connection=acme')).status).toBe(404);
});
