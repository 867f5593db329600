import { expect, it } from 'vitest';
import { pauseGroup } from '../../shared/operate/pausing.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
import type { Item } from '../../shared/store/table.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { runCli } from '../support/cli/io.ts';
import { calledBy } from '../support/engine/test-engine.ts';
import { added, group, removed, savedWorld } from '../support/operate/world.ts';

/** Creates a group with three writes, an action of Bob between them, and an action on the connection. */
async function company() {
  const world = await savedWorld();
  await world.hire('ann', 'bob');
  const later = async (act: () => Promise<unknown>) => {
    world.clock.ms += 60_000;
    await act();
  };
  await world.publish(group('g', 'Blue'), added('g', 'ann'));
  await later(() => world.apply('g'));
  await world.publish(added('g', 'bob'));
  await later(() => world.apply('g'));
  const { cli } = world;
  const bob = (...args: string[]) => runCli(args, { ports: { ...world.ports, ...calledBy('Bob') } });
  await later(() => bob('pause', 'g', '--reason', 'ticket 12', '--yes'));
  await later(() => cli('resume', 'g', '--yes'));
  await world.publish(removed('g', 'ann'));
  await later(() => world.apply('g'));
  await later(() => cli('connections', 'set', 'default', 'mode=report', '--yes'));
  const lines = async (...args: string[]) =>
    (await cli('log', ...args, '--json')).json.entries.map(
      ({ action, actor }: { action: string; actor: { id: string } }) => `${action} ${actor.id}`,
    );
  const entries = () => [...world.table.items.values()].filter(({ sk }) => sk.startsWith('A#'));
  return {
    ...world,
    cli,
    bob,
    lines,
    entries,
    later,
    verify: () => verifyAudit(world.refOf('g'), world.ports),
  };
}

it('groupsync log lists the entries of all groups and the connection, newest last, with their actors', async () => {
  const { lines, cli } = await company();
  const [create, second, third] = ['create test', 'patch test', 'patch test'];
  const actions = ['pause Bob', 'resume local:tester', 'connections_set local:tester'] as const;
  expect(await lines()).toEqual([create, second, actions[0], actions[1], third, actions[2]]);
  expect(await lines('--limit', '2')).toEqual([third, actions[2]]);
  for (const command of [['log'], ['log', '--group', 'g']]) {
    const [all, cut] = [await cli(...command, '--json'), await cli(...command, '--json', '--limit', '2')];
    expect([all.json.complete, all.stderr, cut.json.complete]).toEqual([true, '', false]);
    expect(cut.stderr).toMatch(/^showing at most 2 entries \(--limit\)/);
  }
  expect(await lines('--since', '90s')).toEqual([third, actions[2]]);
  expect(await lines('--actor', 'bob')).toEqual([actions[0]]);
  expect(await lines('--action', 'connections')).toEqual([actions[2]]);
  expect(await lines('--group', 'Blue')).toEqual([create, second, actions[0], actions[1], third]);
  expect(await lines('--member', 'm-ann')).toEqual([create, third]);
  const [{ changes }] = (await cli('log', '--json')).json.entries;
  const events = new Set(changes.map(({ event }: { event: { id: string } }) => event.id));
  expect(events.size).toBe(2);
  for (const id of events) expect(await lines('--event', id as string)).toEqual([create]);
  const { stdout } = await cli('log', '--actor', 'bob');
  expect(stdout).toMatch(/Bob {2}pause {2}Blue \(g\) {2}running → paused {2}ticket 12\n$/);
});

it('groupsync log lists external changes on the platform with their author', async () => {
  const { ports, lines, changeAsOther, cli, apply, refOf, clock } = await company();
  const state = await ports.groups.read(refOf('g'));
  await cli('connections', 'set', 'default', 'mode=authoritative', '--yes');
  await changeAsOther('g', { users: ['u-ann', 'u-bob'] });
  clock.ms += 60_000;
  await cli('sync', 'g', '--yes', '--timeout', '1');
  await apply('g');
  expect(await lines('--action', 'drift')).toEqual(['drift_members_added UNKNOWN']);
  expect((await cli('log', '--member', 'm-ann', '--json')).json.entries.at(-2)).toMatchObject({
    action: 'drift_members_added',
    actor: { kind: 'platform' },
    after: 'u-ann',
    groupName: 'Blue',
  });
  expect((await cli('log', '--action', 'put', '--json')).json.entries.at(-1)).toMatchObject({
    action: 'put',
    cause: expect.stringMatching(/^drift \S+; members_added by UNKNOWN$/),
  });
  const causeOf = async (kind: string) =>
    (await cli('log', '--action', kind, '--json')).json.entries[0].cause;
  expect(await causeOf('drift_members')).toBe('no activity event names the author');
  const by = { initiator: 'ROLE', actor: { role: 'r-eve', name: 'Eve' }, eventIds: ['t-1', 't-2'] };
  const times = { detectedAtMs: clock.ms, settledBy: null, settledAtMs: null };
  const { group: of } = refOf('g');
  const renamed = { id: 'd', group: of, platformId: null, kind: 'name', before: 'a', after: 'b' } as const;
  await ports.drift.record(state?.ref.connection as never, { ...renamed, ...by, ...times });
  expect((await cli('log', '--action', 'drift_name', '--details')).stdout).toContain(
    'activity event t-1, t-2',
  );
});

it('groupsync log reads at most 100 of 120 external changes of a group if two entries are requested', async () => {
  const { changeAsOther, cli, apply, clock, table } = await company();
  for (let turn = 1; turn <= 120; turn += 1) {
    await changeAsOther('g', { name: `Blue ${turn}` });
    clock.ms += 60_000;
    await cli('sync', 'g', '--yes', '--timeout', '1');
    await apply('g');
  }
  const of = ['log', '--group', 'g', '--action', 'drift', '--json', '--limit'];
  const { entries } = (await cli(...of, '2')).json;
  expect(entries).toMatchObject([{ after: 'Blue 119' }, { after: 'Blue 120' }]);
  expect(table.widest.get('DRIFT#')).toBe(100);
  expect((await cli(...of, '500')).json.entries).toHaveLength(120);
});

it('log --follow shows each entry once, until it is stopped', async () => {
  const { ports, later, bob } = await company();
  const stop = new AbortController();
  let looks = 0;
  const sleep = async () => {
    looks += 1;
    if (looks === 2) await later(() => bob('pause', 'g', '--yes'));
    if (looks === 4) stop.abort();
  };
  const args = ['log', '--since', '70s', '--follow', '--json'];
  const { stdout, code } = await runCli(args, { ports: { ...ports, sleep }, signal: stop.signal });
  expect(code).toBe(0);
  const actions = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).action);
  expect(actions).toEqual(['patch', 'connections_set', 'pause']);
});

it('the audit check reports a removed entry, and an entry with a changed field', async () => {
  const { verify, entries, table } = await company();
  const ofGroup = entries().filter(({ pk }) => pk.endsWith('#g'));
  expect(ofGroup).toHaveLength(5);
  for (const item of ofGroup) {
    const at = new Date(Number(item['atMs'])).toISOString();
    const said = Object.keys(item).filter((name) => !/^(pk|sk|schema|expiresAt)$/.test(name));
    expect(said).toEqual(expect.arrayContaining(['actor', 'action', 'changes', 'cause', 'previous']));
    for (const name of said) {
      // A value of another type makes the entry unreadable. Other tests cover unreadable entries.
      const other = {
        atMs: 1,
        changes: [],
        causes: [],
        changeCount: 7,
        dirtySinceMs: 7,
        eventMs: 7,
        outcome: 'rejected',
        previous: [],
        actor: { kind: 'operator', id: 'Eve' },
        step: { after: 'another', sinceMs: 1 },
      };
      const value = (other as Record<string, unknown>)[name] ?? 'another';
      if (JSON.stringify(value) === JSON.stringify(item[name])) continue;
      table.store({ ...item, [name]: value } as Item);
      expect((await verify()).broken, `${name} of ${item.sk}`).toMatchObject({ at, problem: 'changed' });
    }
    await table.delete(item);
    expect((await verify()).broken).toMatchObject({ at, problem: 'missing' });
    const moved = { ...item, sk: item.sk.replace('A#', 'ACT#') };
    table.store(moved);
    expect((await verify()).broken).toMatchObject({ at, problem: 'changed' });
    await table.delete(moved);
    table.store(item);
    expect((await verify()).broken).toBeNull();
  }
  const [first, , third] = ofGroup.toSorted((a, b) => Number(a['atMs']) - Number(b['atMs']));
  for (const item of [first, third]) await table.delete(item as Item);
  const at = new Date(Number(first?.['atMs'])).toISOString();
  expect((await verify()).broken).toEqual({ at, problem: 'missing' });
});

it('audit --verify --all checks every group and the connection, and names the group of a missing entry', async () => {
  const { cli, entries, table } = await company();
  expect((await cli('audit', '--verify', '--all')).stdout).toMatch(/^6 entries: none/);
  await table.delete(entries()[0] as Item);
  const { code, stdout } = await cli('audit', '--verify', '--all');
  expect([code, stdout]).toEqual([
    3,
    expect.stringMatching(/^g: the entry of .* is missing\n5 entries in 2 chains/),
  ]);
  for (const bad of [['g'], ['g', '--verify', '--all']]) expect((await cli('audit', ...bad)).code).toBe(2);
});

it('the audit records both of two simultaneous actions, one after the other', async () => {
  const { ports, refOf, verify, cli } = await company();
  const { audit } = ports;
  let others = 0;
  const record: typeof audit.record = async (...args) => {
    others += 1;
    if (others === 1) await cli('pause', 'g', '--yes');
    return audit.record(...args);
  };
  await pauseGroup(refOf('g'), { ...ports, ...calledBy('Bob'), audit: { ...audit, record } });
  expect(await verify()).toEqual({ group: 'g', entries: 7, named: 7, broken: null });
});

it('the audit check does not report expired entries as missing', async () => {
  const { verify, entries, table, clock } = await company();
  const [first] = entries().sort((a, b) => (a.sk < b.sk ? -1 : 1));
  await table.delete(first as Item);
  expect((await verify()).broken).not.toBeNull();
  clock.ms += 400 * 86_400_000;
  expect((await verify()).broken).toBeNull();
});

const byAda = { actor: '00uada' };
const event = (id: string, type: string, data: object, more: object = byAda) =>
  JSON.stringify({ specversion: '1.0', id, source: 'okta', type: `directory.${type}`, data, ...more });
const g = { group: { id: 'g', name: 'Blue' } };
const ann = { ...g, members: [{ id: 'm-ann', email: 'ann@acme.test' }] };

/** Publishes one event per minute, and runs apply after each event. */
async function told(...bodies: readonly string[]) {
  const world = await savedWorld();
  await world.hire('ann');
  for (const [place, body] of bodies.entries()) {
    world.clock.ms += 60_000;
    const time = new Date(world.clock.ms).toISOString();
    const message = { ...JSON.parse(body), ...(!body.includes('"published"') && { time }) };
    await ingest(
      [{ messageId: `m${place}`, body: JSON.stringify(message), sentAtMs: world.clock.ms }],
      world.ports,
    );
    await world.apply('g');
  }
  const { json } = await world.cli('log', '--json');
  return json.entries.map(({ actor }: { actor: { id: string } }) => actor.id);
}

it('the audit entry of a write names the actor of the event that caused the write', async () => {
  const other = { actor: 'eve@acme.test' };
  expect(
    await told(
      event('1', 'group.upserted', g),
      event('2', 'group.member.added', ann, other),
      event('3', 'group.deleted', g),
    ),
  ).toEqual(['00uada', 'eve@acme.test', '00uada']);
});

it('a later event without a valid actor replaces the stored actor', async () => {
  expect(
    await told(
      event('1', 'group.upserted', g),
      event('2', 'group.member.added', ann, {}),
      event('3', 'group.upserted', { group: { id: 'g', name: 'Green' } }, { actor: { id: 7 } }),
    ),
  ).toEqual(['00uada', 'okta', 'okta']);
});

it('explain shows the actor of an Okta event with the name from Okta', async () => {
  const world = await savedWorld();
  const time = new Date(world.clock.ms).toISOString();
  const okta = {
    uuid: 'u1',
    published: time,
    eventType: 'group.user_membership.add',
    actor: { id: '00uada', type: 'User', displayName: 'Ada Archer', alternateId: 'ada@acme.test' },
    target: [
      { id: 'm-ann', type: 'User', alternateId: 'ann@acme.test' },
      { id: 'g', type: 'UserGroup', displayName: 'Blue' },
    ],
  };
  await ingest([{ messageId: 'm', body: JSON.stringify(okta), sentAtMs: world.clock.ms }], world.ports);
  const { json, stdout } = await world.cli('explain', 'g', 'm-ann', '--json');
  expect(json.events).toMatchObject([
    { register: 'member', actor: { kind: 'directory', id: '00uada', name: 'Ada Archer' } },
  ]);
  expect(stdout).not.toContain('undefined');
});
