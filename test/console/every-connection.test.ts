import { expect, it } from 'vitest';
import { requireAccess } from '../../console/server/access.ts';
import type { SignedInPerson } from '../../console/server/roles.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { asking } from '../support/console/asking.ts';
import { added, group, savedWorld } from '../support/operate/world.ts';

/** Two connections, each with a person without a match, and a dead-lettered message of the stage. */
async function twoConnections() {
  const world = await savedWorld();
  const { connection, mailboxes, publish } = world;
  await world.ports.connections.save({ ...connection, name: 'b' as never });
  await publish(group('g', 'Group of default'), added('g', 'ann', 'bob'));
  await world.apply('g');
  mailboxes.events.add({ id: 'message-1', body: '{}' });
  const queue = async () => ({ url: '', visible: 1, inFlight: 0, delayed: 0, redrivesTo: undefined });
  return { ...world.ports, deployment: { ...world.ports.deployment, queue } };
}
const personWith = (roles: SignedInPerson['roles']): SignedInPerson => ({ id: 'ann@acme.test', roles });
type Shown = { readonly value: { readonly status: { readonly queues: { readonly eventsDlq: unknown } } } };
type Row = { readonly row: { readonly name: string }; readonly role: string | null };

it('the page of all connections shows only items of connections for which the person has a role', async () => {
  const ports = await twoConnections();
  const cases: [SignedInPerson | undefined, Record<string, string | null>, number][] = [
    [undefined, { b: null, default: null }, 1],
    [personWith({ '*': 'viewer', b: 'operator' }), { b: 'operator', default: 'viewer' }, 1],
    [personWith({ b: 'administrator' }), { b: 'administrator' }, 0],
    [personWith({ other: 'viewer' }), {}, 0],
  ];
  for (const [person, rows, messages] of cases) {
    const ask = asking(ports, undefined, person);
    const { connections, causes } = await ask('attention');
    expect(Object.fromEntries(connections.map(({ row, role }: Row) => [row.name, role]))).toEqual(rows);
    const names = Object.keys(rows);
    expect(causes.length).toBe(messages);
    const counted = connections.filter(({ value }: Shown) => value.status.queues.eventsDlq !== null);
    expect(counted.length).toBe(messages === 0 ? 0 : names.length);
    const live = await ask('live');
    expect(live.connections.map(({ name }: Row['row']) => name)).toEqual(names);
    expect(live.deadLetters === null).toBe(messages === 0);
    const isSeen = names.includes('default');
    expect(JSON.stringify([connections, live]).includes('default')).toBe(isSeen);
  }
  const { connections } = await asking(ports)('attention');
  expect(connections.map(({ value }: { value: object }) => value)).toMatchObject([
    { unmatchedTotal: 0 },
    { unmatchedTotal: 2 },
  ]);
});

it('a connection that cannot be read is shown with its problem, and the other connections with their items', async () => {
  const ports = await twoConnections();
  const list = ports.index.all;
  const failing = (...given: Parameters<typeof list>) => {
    if (given[0] === 'b') throw new Error('the table refused the read');
    return list(...given);
  };
  const { connections } = await asking({ ...ports, index: { ...ports.index, all: failing } })('attention');
  expect(connections).toMatchObject([
    { problem: expect.stringContaining('the table refused the read'), value: null },
    { problem: null, value: { unmatchedTotal: 2 } },
  ]);
});

it('a person with a role for one connection does not see the number of dead-lettered messages', async () => {
  const ports = await twoConnections();
  const ask = (roles: SignedInPerson['roles']) => asking(ports, 'default', personWith(roles));
  const [all, one] = [ask({ '*': 'viewer' }), ask({ default: 'administrator' })];
  expect((await all('home')).causes).toMatchObject([{ count: 1 }]);
  expect(await all('live')).toMatchObject({
    deadLetters: 2,
    connections: [{ name: 'b' }, { name: 'default' }],
  });
  expect(await one('live')).toMatchObject({ deadLetters: null, connections: [{ name: 'default' }] });
  expect(await one('home')).toMatchObject({
    causes: [],
    status: { queues: { events: null, eventsDlq: null, apply: null, applyDlq: null } },
  });
});

it('a person without a role for the connection that owns a platform group sees neither connection nor directory group', async () => {
  const world = await savedWorld();
  await world.ports.connections.save({ ...world.connection, name: 'b' as never });
  await world.deliver('owned-by-default', group('owned-by-default', 'Choir'));
  const [platformId = ''] = world.platform.groups.keys();
  for (const id of ['owned-by-default', 'h']) await world.publish({ ...group(id), connection: 'b' });
  const ask = (roles: SignedInPerson['roles']) => asking(world.ports, 'b', personWith(roles));
  const rows = async (roles: SignedInPerson['roles']) => (await ask(roles)('platformGroups')).groups;
  const owner = { connection: 'default', group: 'owned-by-default', name: null };
  const seen = { platformId, spokeId: 'owned-by-default', owner };
  for (const roles of [{ b: 'viewer', default: 'viewer' }, { '*': 'viewer' }] as const)
    expect(await rows(roles)).toMatchObject([seen]);
  const hidden = { platformId, state: 'managed', spokeId: null, owner: null };
  expect(await rows({ b: 'operator' })).toMatchObject([hidden]);
  const one = ask({ b: 'operator' });
  const pairs = [{ group: 'h', platformId }];
  expect((await one('preview-adoptions', { pairs })).adoptions).toMatchObject([
    { problem: 'it belongs to another connection' },
  ]);
  expect((await one('adopt', { pairs })).message).toContain(`${platformId}: owned`);
  const plan = JSON.stringify(await one('plan?group=owned-by-default'));
  expect(plan).toContain('belongs to another directory group');
  expect(plan).not.toContain('default:');
});

it('the console sends no edited message that ingest would refuse, and discards nothing without a selection', async () => {
  const ask = asking(await twoConnections(), 'default');
  const edited = { id: 'message-1', body: '[]', reason: 'r' };
  expect((await ask('amend', edited)).message).toContain('not sent: ingest would refuse the message');
  expect(await ask('discard', { reason: 'r' })).toEqual({ discarded: 0 });
});

it('in the console, an operator neither weakens safety nor makes a SCIM token under four eyes', async () => {
  const { ports } = await savedWorld({ fourEyes: true });
  const ask = asking(ports, 'default', personWith({ default: 'operator' }));
  const weaker = { changes: [{ key: 'guard', value: null }] };
  for (const { message } of [await ask('make-token', { days: 1 }), await ask('settings', weaker)])
    expect(message).toContain('this needs the role administrator');
  const unlisted = () => requireAccess(personWith({ '*': 'administrator' }), connectionName('a'), undefined);
  expect(unlisted).toThrow('this needs AWS credentials');
});

it('a decision in the console contains whether the person is an administrator', async () => {
  const { ports } = await savedWorld();
  const asked: unknown[] = [];
  const hold: ToolPorts['decisions']['hold'] = async ({ request }) => {
    asked.push(request.isAdministrator);
    return { kind: 'no_hold' };
  };
  const deciding = { ...ports, decisions: { ...ports.decisions, hold } };
  for (const role of ['approver', 'administrator'] as const)
    await asking(
      deciding,
      'default',
      personWith({ default: role }),
    )('approve', { group: 'g', digest: 'd', reason: 'r' });
  expect(asked).toEqual([false, true]);
});

it('only the queries live and attention work without the name of a connection', async () => {
  const ask = asking(await twoConnections());
  for (const name of ['home', 'hold', 'activity', 'attention/x'])
    expect(await ask(name)).toEqual({ message: expect.stringContaining('expected ?connection=') });
  expect((await ask('attention', {})).message).toContain('expected ?connection=');
});
