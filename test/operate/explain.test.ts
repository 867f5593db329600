import { expect, it } from 'vitest';
import { groupId, roleId } from '../../shared/domain/ids.ts';
import { explainMember } from '../../shared/operate/explain.ts';
import { compareWithNow } from '../../shared/operate/import/compare.ts';
import { reportPerson } from '../../shared/operate/person.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { PersonSpec } from '../../simulate/simulation-run.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, HOUR_MS } from '../support/engine/world.ts';

async function company(settings: object = {}) {
  const engine = await createTestEngine({ settings: { ...settings } });
  await engine.hire('ann', 'bob');
  const { world } = engine;
  return {
    ...engine,
    explain: async (member: string) =>
      explainMember(engine.ref('g'), member, {
        connection: await world.connection(),
        ports: world.toolPorts,
      }),
  };
}

it('explain, apply and the import preview use the active role of a user who also has an ended role', async () => {
  const { world, deliver, shown, explain, member } = await company();
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  const role = { email: 'ann@acme.test', userId: 'u-ann' };
  world.platform.employees = [
    { role: 'ann', state: 'TERMINATED', ...role },
    { role: 'ann-again', ...role, email: 'ann.again@acme.test' },
    { role: 'bob', email: 'bob@acme.test' },
  ];
  const connection = await world.connection();
  await refreshPeople(connection, world.toolPorts);
  await deliver();
  expect(shown('g')).toEqual([['u-ann', 'u-bob']]);
  const person = { id: 'ann-again', userId: 'u-ann', state: 'ACTIVE' };
  expect(await explain('ann')).toMatchObject({
    wanted: true,
    match: { person, user: 'u-ann' },
    decision: { outcome: 'in_sync' },
  });
  for (const text of ['u-ann', 'ann@acme.test', 'ann.again@acme.test'])
    expect((await explain(text)).member, text).toBe('ann');
  const ports = world.toolPorts as unknown as ToolPorts;
  const report = await reportPerson('ann.again@acme.test', connection, ports);
  expect(report).toMatchObject({ member: 'ann', person });
  const rows = ['ann', 'bob', 'new'].map((id) => {
    const email = `${id.replace('new', 'ann')}@acme.test`;
    return { line: 1, group: 'h', name: 'H', member: member(id), email };
  });
  const asOf = new Date(world.nowMs()).toISOString();
  expect(await compareWithNow(rows, { asOf, kind: 'snapshot' }, connection, ports)).toMatchObject({
    added: 3,
    unmatched: 0,
    held: [],
  });
});

it('explain fails if a read fails, although the group has a user with the text', async () => {
  const { deliver, explain, world } = await company();
  await deliver({ snapshot: 'g', of: ['ann'] });
  expect(await explain('u-ann')).toMatchObject({ member: 'ann' });
  Object.assign(world.toolPorts, {
    scim: { holder: () => Promise.reject(new Error('the table did not answer')) },
  });
  await expect(explain('u-ann')).rejects.toThrow('the table did not answer');
});

it('explain finds a member that only another group has, by the address or the exact id, although a longer id begins with it', async () => {
  const { deliver, explain } = await company();
  await deliver({ snapshot: 'g', of: ['ann10'] }, { snapshot: 'h', of: ['ann', 'bob'] });
  expect(await explain('ann')).toMatchObject({ member: 'ann', present: false });
  const byAddress = await explain('bob@acme.test');
  expect(byAddress).toMatchObject({ member: 'bob', present: false, match: { person: { id: 'bob' } } });
  expect(byAddress).toEqual(await explain('bob'));
});

it('explain finds the member with exactly the given address, although another member has it in capitals', async () => {
  const { deliver, explain } = await company();
  await deliver({ snapshot: 'g', of: ['bob', 'BOB'] });
  expect(await explain('bob@acme.test')).toMatchObject({ member: 'bob' });
});

type Company = Awaited<ReturnType<typeof company>>;
const refreshed = async ({ world, deliver }: Company, ...employees: readonly PersonSpec[]) => {
  world.platform.employees = [{ role: 'bob', email: 'bob@acme.test' }, ...employees];
  await refreshPeople(await world.connection(), world.toolPorts);
  await deliver();
};
const ANN = { role: 'ann', email: 'ann@acme.test' };

it.each<[string, (engine: Company) => Promise<unknown>, string]>([
  ['removed', ({ deliver }) => deliver({ take: ['ann'], from: 'g' }), 'the directory took them out'],
  ['left out of a snapshot', ({ deliver }) => deliver({ snapshot: 'g', of: ['bob'] }), 'a later snapshot'],
  ['deleted', ({ deliver }) => deliver({ forget: 'ann' }), 'the directory deleted this user'],
  [
    'suspended',
    ({ deliver }) => deliver({ user: 'ann', 'scim:active': 'false' }),
    'the directory has switched',
  ],
  ['ended', (engine) => refreshed(engine, { ...ANN, state: 'TERMINATED' }), 'their employment has ended'],
  ['unknown to the platform', (engine) => refreshed(engine), 'the platform no longer has this employee'],
  [
    'ambiguous',
    ({ deliver }) => deliver({ user: 'ann', email: 'bob@acme.test' }),
    'their attributes match several',
  ],
])('explain and the audit give the same cause if a member is %s', async (_, change, text) => {
  const engine = await company();
  await refreshed(engine, ANN);
  await engine.deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  await change(engine);
  expect(engine.shown('g')).toEqual([['u-bob']]);
  const removal = (await engine.audit('g')).at(0)?.changes[0];
  expect(removal).toMatchObject({ kind: 'remove_member', member: 'ann', before: 'u-ann' });
  expect(removal?.reason).toMatch(new RegExp(`^${text}`));
  expect((await engine.explain('ann')).because).toMatch(new RegExp(`^${text}`));
});

it('explain reports that a removed member is still in the group through another member with the same address', async () => {
  const { deliver, explain } = await company();
  await deliver({ snapshot: 'g', of: ['ann', 'ANN'] }, { take: ['ann'], from: 'g' });
  const because = 'the directory took them out of the group; the same person is in the group as member ANN';
  expect(await explain('ann')).toMatchObject({ because, decision: { outcome: 'not_wanted' } });
});

it('the report of a person lists the groups of every member that is bound to the employee now', async () => {
  const { world, deliver, hire, member, role } = await company();
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] }, { snapshot: 'h', of: ['ANN', 'bob'] });
  const report = async (text = 'ann') => {
    const ports = world.toolPorts as unknown as ToolPorts;
    const { members, groups } = await reportPerson(text, await world.connection(), ports);
    return [members, groups.map(({ group, member: as, outcome }) => [group, as, outcome])];
  };
  const own = ['g', 'ann', 'in_sync'];
  expect(await report()).toEqual([
    ['ann', 'ANN'],
    [own, ['h', 'ANN', 'in_sync']],
  ]);
  expect((await report('Ann@acme.test'))[0]?.toSorted()).toEqual(['ANN', 'ann']);
  await hire('cid');
  await rebindMember(CONNECTION, { member: member('ANN'), role: role('cid') }, world.toolPorts);
  expect(await report()).toEqual([['ann'], [own]]);
});

it('explain gives the reason why an employee without a userId, or before the start of the employment, is pending', async () => {
  const { world, deliver, explain } = await company();
  const { people } = world.toolPorts;
  const cid = { role: roleId('cid'), state: 'ACTIVE', values: new Map([['workEmail', 'cid@acme.test']]) };
  await people.save(CONNECTION, { ...cid, fanOutDue: false }, undefined);
  await world.toolPorts.hire([{ role: 'dan', email: 'dan@acme.test', state: 'HIRED' }]);
  await deliver({ snapshot: 'g', of: ['cid', 'dan'] });
  expect(await explain('cid')).toMatchObject({
    because: 'the platform does not show the userId of cid',
    match: { person: { id: 'cid', userId: null } },
    decision: { outcome: 'pending:unknown' },
  });
  expect(await explain('dan')).toMatchObject({
    match: { bound: null, person: { id: 'dan', state: 'HIRED' } },
    decision: { outcome: 'pending:inactive', detail: expect.stringContaining('their roleState (HIRED') },
  });
});

it('explain says that the platform refuses a member, for a day after the refusal', async () => {
  const { world, deliver, explain } = await company();
  world.platform.refusal = (_, users) => (users.includes('u-bob') ? 422 : undefined);
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  const detail = expect.stringContaining('the platform refuses each write that adds the user');
  expect(await explain('bob')).toMatchObject({ decision: { outcome: 'pending:refused', detail } });
  world.advance(25 * HOUR_MS);
  expect(await explain('bob')).not.toMatchObject({ decision: { detail } });
});

it('explain reports that the platform refused a removal, and names no policy as the reason', async () => {
  const { world, deliver, emit, pass, explain } = await company();
  await deliver({ snapshot: 'g', of: ['ann', 'bob'] });
  world.platform.refusal = () => 400;
  emit({ take: ['bob'], from: 'g' });
  await pass(5 * 60_000);
  expect(await explain('bob')).toMatchObject({
    present: true,
    decision: {
      outcome: 'waiting',
      detail: expect.stringMatching(
        /^the directory took them out of the group; .* refuses to remove 1 member, who keeps access; .* answered 400/,
      ),
    },
  });
});

it('explain distinguishes a group that never had a name from a group that lost its name by its deletion', async () => {
  const { deliver, explain } = await company();
  await deliver({ snapshot: 'g', of: ['ann'], name: null });
  expect((await explain('ann')).because).toContain('no event has given the group a name yet');
  await deliver({ remove: 'g' }, { snapshot: 'g', of: ['ann'], name: null });
  expect(await explain('ann')).toMatchObject({
    decision: { outcome: 'unnamed', detail: expect.stringContaining('deleted the group') },
  });
});

it('explain names the actor who added a user on the platform, and the time at which groupsync removed the user', async () => {
  const { deliver, explain, world, state } = await company();
  await deliver({ snapshot: 'g', of: ['ann'] });
  await expect(explain('bob@acme.test')).resolves.toMatchObject({
    present: false,
    because: 'no member of the group in the directory is this user',
  });
  const seen = await state('g');
  world.platform.changeAsOther(String(seen?.link?.id), { users: ['u-ann', 'u-bob'] });
  const actor = { role: 'r-eve', name: 'Eve Hand' };
  const trace = { id: 't', initiator: 'ROLE', actor, type: 'UPDATE', at: null };
  const at = { nowMs: world.nowMs(), wakeAtMs: world.nowMs(), isAtOnce: true };
  const suspicion = { version: null, activityEvents: [trace], atMs: world.nowMs() };
  if (seen !== undefined) await world.toolPorts.groups.noteSuspected(seen, suspicion, at);
  await world.toolPorts.applyQueue.wake([{ connection: CONNECTION, group: groupId('g') }]);
  world.advance(60_000);
  await deliver();
  for (const text of ['bob@acme.test', 'u-bob', 'bob']) {
    expect(await explain(text)).toMatchObject({
      present: false,
      because: expect.stringMatching(
        /^added by hand on the platform by Eve Hand \(r-eve\) at 2026-\S+Z, removed again at 2026-\S+Z; no member of the group in the/,
      ),
      write: { action: 'put', outcome: 'written' },
    });
  }
  await deliver({ snapshot: 'h', of: ['bob'] });
  expect((await explain('bob@acme.test')).because).toMatch(/^added by hand on the platform by Eve Hand/);
  await expect(explain('unknown@acme.test')).rejects.toThrow(
    /^connection default has no member with the id or name "unknown@acme.test"/,
  );
});
