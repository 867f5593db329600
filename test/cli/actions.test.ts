import { expect, it } from 'vitest';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFile } from '../support/folder.ts';
import { added, group, portsAs, removed, sixInSync } from '../support/operate/world.ts';

/** Creates a group whose removals are held. */
async function heldWorld() {
  const world = await sixInSync();
  await world.deliver('g', removed('g', 'ann', 'bob', 'cid', 'dee'));
  const { cli } = world;
  const cliOfBob = (...args: string[]) => runCli(args, { ports: portsAs('Bob', world.ports) });
  const ask = (args: string[], sees: string) =>
    runCli(args, { ports: world.ports, person: [{ sees, types: 'y\r' }] });
  const newest = async (...of: string[]) => {
    const { json } = await cli('log', ...of.flatMap((id) => ['--group', id]), '--json');
    const isOfOperator = ({ actor }: { actor: { kind: string } }) => actor.kind === 'operator';
    return json.entries
      .filter(isOfOperator)
      .reduce((last: { at: string }, one: { at: string }) => (one.at > last.at ? one : last));
  };
  return { ...world, cliOfBob, ask, newest };
}

const change = (kind: string, before: string | null, after: string | null) =>
  expect.objectContaining({ kind, before, after });
const MODE_IS_REPORT = change('set_setting', '"authoritative"', '"report"');

it.each([
  ['g', 'holds approve g --reason r', 'holds_approve', change('decide_hold', 'waiting', 'approved')],
  ['g', 'holds reject g --reason r', 'holds_reject', change('decide_hold', 'waiting', 'rejected')],
  ['g', 'pause g --reason r', 'pause', change('set_pause', 'running', 'paused')],
  ['', 'pause --reason r', 'pause', change('set_gate', 'open', 'paused')],
  ['', 'rebind m-ann r-bob', 'rebind', change('rebind', 'r-ann', 'r-bob')],
  ['', 'connections set default mode=report', 'connections_set', MODE_IS_REPORT],
  ['', 'connections remove default', 'connections_remove', change('remove_connection', 'company', null)],
])(
  'the audit entry (group "%s") of %s has the operator, the reason and the previous value',
  async (of, command, action, changed) => {
    const { cli, newest, clock } = await heldWorld();
    clock.ms += 1_000;
    expect((await cli(...command.split(' '), '--yes')).code).toBe(0);
    const cause = command.endsWith('--reason r') ? 'local:tester: r' : 'local:tester';
    const entry = { action, cause, changes: [changed], outcome: 'written' };
    expect(await newest(...(of === '' ? [] : [of]))).toMatchObject(entry);
  },
);

it('the audit records sends, replays, imports and syncs, and the adoption and release of groups', async () => {
  const { cli, clock, mailboxes, platform, ports, refOf } = await heldWorld();
  const event = { specversion: '1.0', id: 'e', source: 's', time: new Date(clock.ms).toISOString() };
  const data = { group: { id: 'n', name: 'New' } };
  const line = JSON.stringify({ ...event, type: 'directory.group.upserted', data });
  mailboxes.events.add({ id: 'd', body: line, code: 'unknown_connection' });
  const platformId = String((await ports.groups.read(refOf('g')))?.link?.id);
  const actions = [
    ['events', 'send', temporaryFile('e.jsonl', line)],
    ['import', temporaryFile('c.csv', 'n,New,m-ann,ann@acme.test'), '--as-of', event.time],
    ['dlq', 'replay', '--all'],
    ['sync', 'g', '--timeout', '1'],
    ['release', 'g'],
  ];
  for (const action of actions) {
    clock.ms += 1_000;
    await cli(...action, '--yes');
  }
  await applyGroup(refOf('g'), ports);
  clock.ms += 1_000;
  await cli('adopt', 'g', platformId, '--yes');
  expect(platform.groups.size).toBe(1);
  expect((await cli('log', '--details')).stdout).toContain(
    'import c.csv: New (n): 1 row, 1 group; groupsync import --undo ',
  );
  const { entries } = (await cli('log', '--actor', 'local:tester', '--json')).json;
  expect(entries.map(({ action, after }: { action: string; after: unknown }) => [action, after])).toEqual([
    ['events_send', null],
    ['import', 'c.csv: New (n)'],
    ['dlq_replay', '{}'],
    ['sync', 'g'],
    ['release', null],
    ['adopt', platformId],
  ]);
});

it('the audit records the end of a pause of a group and of the connection', async () => {
  const { cli, newest, clock } = await heldWorld();
  await cli('pause', 'g', '--yes');
  await cli('pause', '--yes');
  clock.ms += 1_000;
  await cli('resume', 'g', '--yes');
  clock.ms += 1_000;
  await cli('resume', '--yes');
  expect(await newest('g')).toMatchObject({
    action: 'resume',
    changes: [change('set_pause', 'paused', 'running')],
  });
  expect(await newest()).toMatchObject({
    action: 'resume',
    changes: [change('set_gate', 'paused', 'open')],
  });
});

it('the audit records the creation, rotation and revocation of an OAuth client for SCIM without its secrets', async () => {
  const { cli, newest, clock, table } = await heldWorld();
  const { clientId, clientSecret } = (await cli('scim', 'client', 'create', '--json')).json;
  expect(await newest()).toMatchObject({
    action: 'scim_client_create',
    changes: [change('create_client', null, clientId)],
  });
  clock.ms += 1_000;
  const rotated = (await cli('scim', 'client', 'rotate', clientId, '--json')).json;
  expect(await newest()).toMatchObject({
    action: 'scim_client_rotate',
    changes: [change('rotate_client', clientId, rotated.prefix)],
  });
  clock.ms += 1_000;
  // An operator may paste the whole secret by mistake.
  expect((await cli('scim', 'client', 'revoke', clientSecret, '--yes')).code).toBe(1);
  expect((await cli('scim', 'client', 'revoke', clientId, '--yes')).code).toBe(0);
  expect(await newest()).toMatchObject({
    action: 'scim_client_revoke',
    changes: [change('revoke_client', clientId, null)],
  });
  expect((await cli('scim', 'client', 'rotate', clientId)).code).toBe(1);
  const stored = JSON.stringify([...table.items]);
  for (const secret of [clientSecret, rotated.clientSecret]) expect(stored).not.toContain(secret);
});

it('holds approve and holds reject require a reason before they look up the group', async () => {
  const { cli } = await heldWorld();
  for (const verb of ['approve', 'reject'])
    expect(await cli('holds', verb, 'g', '--yes')).toMatchObject({
      ...{
        code: 2,
        stdout: '',
        stderr: 'groupsync: --reason is required with --yes, and without a terminal\n',
      },
    });
});

it('a script cannot change a decision without --again, and the error names the operator who made the decision', async () => {
  const { cli, cliOfBob, ports, refOf } = await heldWorld();
  const { digest } = (await cli('holds', '--json')).json.holds[0];
  await cliOfBob('holds', 'reject', 'g', '--reason', 'ticket 12', '--yes');
  const approve = ['holds', 'approve', 'g', '--reason', 'r', '--yes', '--json'];
  for (const args of [approve, [...approve, '--digest', digest]]) {
    const { code, stderr } = await cli(...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/rejected by Bob at .*ticket 12.*--again/);
  }
  expect((await ports.groups.read(refOf('g')))?.removals?.sets[0]?.decision.kind).toBe('rejected');
  expect((await cli(...approve, '--again')).json).toMatchObject({ outcome: 'decided' });
  expect((await ports.groups.read(refOf('g')))?.removals?.sets[0]?.decision.kind).toBe('approved');
});

it('holds approve keeps a decision that another operator has made in the meantime, and names that operator', async () => {
  const { cliOfBob, ports, refOf } = await heldWorld();
  const { groups } = ports;
  let reads = 0;
  const late = {
    ...ports,
    groups: {
      ...groups,
      read: async (...args: Parameters<typeof groups.read>) => {
        reads += 1;
        // The first read finds the group, the second reads the shown hold, and the third precedes the decision.
        if (reads === 3) await cliOfBob('holds', 'reject', 'g', '--reason', 'no', '--yes');
        return groups.read(...args);
      },
    },
  };
  const ran = await runCli(['holds', 'approve', 'g', '--reason', 'r', '--yes'], {
    ports: portsAs('local:tester', late),
  });
  expect(ran).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/another operator decided the hold: rejected by Bob/),
  });
  expect((await ports.groups.read(refOf('g')))?.removals?.sets[0]?.decision.kind).toBe('rejected');
});

it('pause and resume without an effect say so, and write no audit entry', async () => {
  const { cli } = await sixInSync();
  const actions = async () => (await cli('log', '--json')).json.entries.length;
  const outputOf = async (...args: string[]) => (await cli(...args, '--yes')).stdout;
  const before = await actions();
  expect(await outputOf('resume')).toBe('the connection is not paused; nothing to resume\n');
  await cli('pause', '--reason', 'maintenance', '--yes');
  await cli('pause', 'g', '--yes');
  expect(await outputOf('pause')).toBe('already paused: local:tester: maintenance\n');
  expect((await cli('resume')).code).toBe(2);
  expect(await outputOf('pause', 'g')).toMatch(
    /^already paused since .*Z by local:tester: no reason given\n$/,
  );
  expect(await actions()).toBe(before + 2);
  await cli('pause', '--reason', 'upgrade', '--yes');
  expect(await outputOf('pause')).toBe('already paused: local:tester: upgrade\n');
});

it('pause and resume wait for the end of running writes, but not with --no-wait', async () => {
  const { ports, publish, apply, clock } = await heldWorld();
  await publish(added('g', 'ann', 'bob', 'cid', 'dee'), group('h', 'Red'));
  for (const id of ['g', 'h']) await apply(id);
  const [polls, writing] = [{ count: 0 }, { until: 3 }];
  const readMany: typeof ports.groups.readMany = async (...asked) =>
    (await ports.groups.readMany(...asked)).map((state) =>
      polls.count < writing.until ? { ...state, intent: {} as NonNullable<typeof state.intent> } : state,
    );
  const sleep = async () => {
    polls.count += 1;
    clock.ms += 400;
    for (const id of ['g', 'h']) await apply(id);
  };
  const around = { ports: { ...ports, groups: { ...ports.groups, readMany }, sleep } };
  const outputOf = async (...args: string[]) => {
    const { code, stderr } = await runCli([...args, '--yes'], around);
    return `${code} ${stderr}`;
  };
  await publish(group('h', 'Rose'));
  for (const args of [['pause'], ['resume'], ['pause', 'h'], ['resume', 'h']])
    expect(await outputOf(...args, '--no-wait')).toMatch(/^0 /);
  expect(polls.count).toBe(0);
  expect(await outputOf('pause', 'g')).toMatch(/^0 [\s\S]*no writes in flight/);
  expect(polls.count).toBe(3);
  await publish(removed('g', 'ann'));
  expect(await outputOf('resume', 'g')).toMatch(/^0 [\s\S]*done: in_sync/);
  expect(polls.count).toBe(4);
  await publish(removed('g', 'bob'), group('h', 'Ruby'));
  writing.until = 6;
  expect(await outputOf('pause')).toMatch(/^0 [\s\S]*no writes in flight/);
  expect(polls.count).toBe(6);
  await publish(group('g', 'Azure'), group('h', 'Wine'));
  expect(await outputOf('resume')).toMatch(/^0 [\s\S]*done: 2 groups, 0 failed/);
});
