import { expect, it } from 'vitest';
import type { Timeline } from '../../console/answers.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { asking } from '../support/console/asking.ts';
import { added, portsAs, removed, sixInSync } from '../support/operate/world.ts';

const HOUR_MS = 3_600_000;

async function changed() {
  const world = await sixInSync({ auditReads: true });
  const { clock, ports, sent } = world;
  const startMs = clock.ms;
  const at = (hours: number) => new Date(startMs + hours * HOUR_MS).toISOString();
  const publish = async (hours: number, ...events: Parameters<typeof world.publish>) => {
    clock.ms = startMs + hours * HOUR_MS;
    await world.deliver('g', ...events);
  };
  await publish(1, removed('g', 'ann'));
  await world.changeAsOther('g', { users: ['u-cid', 'u-dee', 'u-eve', 'u-fay'] });
  await world.cli('sync', 'g', '--timeout', '1', '--yes');
  await publish(2);
  clock.ms = startMs + 3 * HOUR_MS;
  await world.cli('undo', 'g', '--to', at(0.5), '--yes');
  const messages = sent.splice(0).map((one, at) => ({ ...one, messageId: `u${at}`, sentAtMs: clock.ms }));
  await ingest(messages, ports);
  await world.apply('g');
  await publish(4, removed('g', 'ann', 'bob', 'cid', 'dee'));
  const ask = asking(portsAs('vic', ports), 'default', { id: 'vic', roles: { '*': 'viewer' } });
  return { ...world, ask, at };
}

const rowsOf = ({ changes }: Timeline) =>
  changes.map(({ at, sort, size, added, removed }) => [at, sort, size, `+${added} -${removed}`]);

it('the timeline of a group has its size after each change, with its sort, and begins when the members are known', async () => {
  const { ask, at } = await changed();
  const timeline = await ask('timeline?group=g');
  expect(rowsOf(timeline)).toEqual([
    [at(0), 'write', 6, '+6 -0'],
    [at(1), 'write', 5, '+0 -1'],
    [at(2), 'external', 4, '+0 -1'],
    [at(2), 'write', 5, '+1 -0'],
    [at(3), 'import', 6, '+1 -0'],
    [at(4), 'hold', 6, '+0 -0'],
  ]);
  expect(timeline).toMatchObject({ begins: 'known', before: 0 });
  expect(Date.parse(at(0)) - Date.parse(timeline.since)).toBeLessThan(1_000);
  const lastHours = await ask('timeline?group=g&span=1.5');
  expect(lastHours).toMatchObject({ begins: 'span', since: at(2.5), before: 5 });
  expect(rowsOf(lastHours).map(([time]) => time)).toEqual([at(3), at(4)]);
});

it('the timeline has the holds from before a takeover, and a person was added by the creation of a group', async () => {
  const { ask, audit, ports, connection, refOf } = await changed();
  const hold = (await audit('g')).find(({ action }) => action === 'hold');
  await ports.audit.record(refOf('old'), hold as never, 'action');
  const { group: to } = refOf('g');
  await ports.reader.noteMove(connection.name, { from: refOf('old').group, to, source: 'events' });
  const rows = rowsOf(await ask('timeline?group=g'));
  expect(rows.filter(([, sort]) => sort === 'hold')).toHaveLength(2);
  const { timeline } = await ask('person?member=m-fay');
  expect(timeline.at(-1)).toMatchObject({
    action: 'patch',
    changeCount: 1,
    changes: [{ kind: 'add_member' }],
  });
});

it('a group with more than 200 changes shows the newest, and that older ones are left out', async () => {
  const world = await sixInSync({ guard: null });
  for (let n = 0; n < 205; n += 1) {
    world.clock.ms += 60_000;
    await world.deliver('g', n % 2 === 0 ? removed('g', 'ann') : added('g', 'ann'));
  }
  const { begins, before, changes } = await asking(world.ports, 'default')('timeline?group=g');
  // The oldest of the 200 entries that are read only shows the size before the first change.
  expect([begins, before, changes.length, changes.at(-1).size]).toEqual(['cut', 6, 199, 5]);
});

it('a viewer sees who was in a group at a time, with names, what is uncertain, and the read is recorded', async () => {
  const { ask, at, audit } = await changed();
  const states = async (hours: number) =>
    (await ask(`past?group=g&at=${at(hours)}`)).members.map(
      ({ member, states }: { member: string; states: string[] }) => `${member} ${states}`,
    );
  expect(await states(0.5)).toContain('m-ann in');
  expect(await states(1.5)).toEqual(['m-bob uncertain', 'm-cid in', 'm-dee in', 'm-eve in', 'm-fay in']);
  expect(await states(3.5)).toHaveLength(6);
  expect(await ask(`past?group=g&at=${at(-1)}`)).toMatchObject({ known: false, members: [] });
  expect((await ask('past?group=g&at=soon')).times).toEqual([at(4)]);
  const reads = (await audit('')).filter(
    ({ action, actor }) => action === 'read_members' && actor.id === 'vic',
  );
  expect(reads.map(({ group }) => group)).toEqual(['g']);
});
