import { expect, it } from 'vitest';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import type { Item } from '../../shared/store/table.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { runCli } from '../support/cli/io.ts';
import { added, group, portsAs, removed, savedWorld } from '../support/operate/world.ts';

const FIVE = ['ann', 'bob', 'cid', 'dee', 'eve'];

/** Creates the group g, whose directory members were replaced by `now` an hour after `to`. */
async function company(
  settings: Partial<ConnectionSettings>,
  then: readonly string[],
  now: readonly string[],
) {
  const world = await savedWorld(settings);
  await world.hire(...FIVE);
  const cliOf =
    (name: string) =>
    (...args: string[]) =>
      runCli([...args, '--yes'], { ports: portsAs(name, world.ports) });
  const takeSent = async () => {
    const messages = world.sent.splice(0);
    const received = messages.map((one, place) => ({
      ...one,
      messageId: `m${place}`,
      sentAtMs: world.clock.ms,
      sentBy: 'Ann',
    }));
    await ingest(received, world.ports);
    await world.apply('g');
  };
  await world.publish(group('g', 'Blue'), ...then.map((member) => added('g', member)));
  await world.apply('g');
  world.clock.ms += 3_600_000;
  const to = new Date(world.clock.ms).toISOString();
  world.clock.ms += 3_600_000;
  const events = [
    ...then.filter((one) => !now.includes(one)).map((member) => removed('g', member)),
    ...now.filter((one) => !then.includes(one)).map((member) => added('g', member)),
  ];
  await world.publish(...events);
  await world.apply('g');
  world.clock.ms += 60_000;
  const users = () => [...world.platform.groups.values()].flatMap((one) => [...one.users].sort());
  return { ...world, cliOf, cli: cliOf('Ann'), takeSent, to, users };
}

it('the guard holds the removals of an undo, and under four eyes another person must approve them', async () => {
  const { cliOf, cli, takeSent, to, users, apply } = await company({ fourEyes: true }, ['ann'], FIVE);
  expect((await cli('undo', 'g', '--to', to)).code).toBe(0);
  await takeSent();
  expect(users()).toHaveLength(5);
  const [hold] = (await cli('holds', '--json')).json.holds;
  expect(hold).toMatchObject({ group: 'g', removes: 4 });
  const approve = (name: string) => cliOf(name)('holds', 'approve', 'g', '--reason', 'r');
  expect((await approve('Ann')).code).not.toBe(0);
  expect((await approve('Bob')).code).toBe(0);
  await apply('g');
  expect(users()).toEqual(['u-ann']);
});

it('an undo of a paused group is written after resume', async () => {
  const { cli, takeSent, to, users, apply } = await company({ guard: null }, ['ann', 'bob'], ['bob']);
  await cli('pause', 'g', '--reason', 'r', '--no-wait');
  expect((await cli('undo', 'g', '--to', to)).code).toBe(0);
  await takeSent();
  expect(users()).toEqual(['u-bob']);
  await cli('resume', 'g', '--no-wait');
  await apply('g');
  expect(users()).toEqual(['u-ann', 'u-bob']);
});

it('in the mode report, an undo is only shown', async () => {
  const { cli, takeSent, to, users, apply } = await company({ guard: null }, ['ann', 'bob'], ['bob']);
  await cli('connections', 'set', 'default', 'mode=report');
  await apply('g');
  await cli('undo', 'g', '--to', to);
  await takeSent();
  expect(users()).toEqual(['u-bob']);
  expect((await cli('plan', 'g', '--json')).json.plans).toMatchObject([
    { action: 'report', changes: [{ kind: 'add_member', after: 'u-ann' }] },
  ]);
});

it('an undo leaves out a person that only another client added to the group', async () => {
  const world = await company({ guard: null, mode: 'additive' }, ['ann'], ['ann']);
  const id = String((await world.ports.groups.read(world.refOf('g')))?.link?.id);
  world.platform.changeAsOther(id, { users: ['u-ann', 'u-dee'] });
  world.clock.ms += 3_600_000;
  await world.cli('sync', 'g', '--timeout', '1');
  await world.apply('g');
  world.clock.ms += 3_600_000;
  const to = new Date(world.clock.ms).toISOString();
  world.platform.changeAsOther(id, { users: ['u-ann'] });
  const ran = await world.cli('undo', 'g', '--to', to);
  expect(ran.stderr).toContain('g: 1 person left out');
  expect(ran.stderr).toContain('nothing to undo');
});

it('undo refuses a group of the directory reader, where events have no effect, and an import exits with 3', async () => {
  const directory = { kind: 'google', administrator: 'admin@acme.test' } as const;
  const { ports, to, sent, connection, refOf } = await company({ directory }, ['ann', 'bob'], ['bob']);
  const { group: g } = refOf('g');
  await ports.reader.noteMove(connection.name, { from: g, to: g, source: 'directory' });
  const cli = (...args: string[]) =>
    runCli([...args, '--yes'], { ports, stdin: 'g,Blue,m-ann,ann@acme.test' });
  expect(await cli('undo', 'g', '--to', to)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the directory reader owns the group g'),
  });
  expect(sent).toEqual([]);
  const ran = await cli('import', '-', '--as-of', 'now');
  expect([ran.code, ran.stderr]).toEqual([3, expect.stringContaining('the events have no effect there')]);
});

it('undo refuses a time in the future, and a group of which nothing is known at this time', async () => {
  const { cli } = await company({ guard: null }, ['ann'], ['ann']);
  for (const [time, code, text] of [
    ['2099-01-01', 2, 'expected a past time'],
    ['2020-01-01', 1, 'nothing was changed: expected a group'],
  ] as const)
    expect(await cli('undo', 'g', '--to', time)).toMatchObject({
      code,
      stderr: expect.stringContaining(text),
    });
});

it.each([
  ['contains groups, which a snapshot of its people would remove', { containsGroups: true }],
  ['moved to another source', { movedTo: 'h' }],
])('undo refuses a group that %s, and export without --at still writes it', async (_, state) => {
  const { cli, table, to } = await company({ guard: null }, ['ann', 'bob'], ['bob']);
  const item = [...table.items.values()].find(({ pk, sk }) => pk.endsWith('#g') && sk === 'GROUP');
  table.store({ ...item, ...state } as Item);
  expect(await cli('undo', 'g', '--to', to)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing was changed: expected a group'),
  });
  expect((await cli('export', 'g')).stdout).toContain('m-bob');
});

it('with auditReads, undo records that people were shown, also with --dry-run', async () => {
  const { cli, to } = await company({ guard: null, auditReads: true }, ['ann', 'bob'], ['bob']);
  await cli('undo', 'g', '--to', to, '--dry-run');
  expect((await cli('log', '--action', 'read_export', '--json')).json.entries).toMatchObject([
    { group: 'g' },
  ]);
});
