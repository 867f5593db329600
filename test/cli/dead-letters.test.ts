import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { added, group, savedWorld } from '../support/operate/world.ts';

const IDS = ['1f9a01bc-0000-4000-8000-000000000001', '1f9a01bd-0000-4000-8000-000000000002'] as const;

async function worldOf() {
  const world = await savedWorld();
  await world.publish(group('g', 'Blue'), added('g', 'ann'));
  const { events } = world.mailboxes;
  events.add({ id: IDS[0], body: '{', code: 'invalid_json' });
  events.add({ id: IDS[1], body: '{}', code: 'invalid_event' });
  const cli = (args: readonly string[], around = {}) => runCli(args, { ports: world.ports, ...around });
  return { ...world, cli, deadLetters: events };
}

it('dlq accepts the beginning of an id if it is unique', async () => {
  const { cli, deadLetters } = await worldOf();
  const list = await cli(['dlq', 'list']);
  expect(list.stdout).toMatch(/│ 1f9a01bc │ invalid_json/);
  expect(list.stdout).not.toContain(IDS[0]);
  expect(list.stderr).toContain('next: groupsync dlq show 1f9a01b');
  expect((await cli(['dlq', 'show', '1f9a01bd', '--json'])).json).toMatchObject({ id: IDS[1] });
  for (const line of ['dlq show 1f9a', 'dlq replay 1f9a --yes'])
    expect(await cli(line.split(' '))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/matches 2/),
    });
  expect(deadLetters.ids()).toHaveLength(2);
});

it('dlq replay warns of messages that would be rejected again, and reports the messages that came back', async () => {
  const { cli, deadLetters, ports } = await worldOf();
  const send = async (messages: readonly { body: string }[]) =>
    messages.map(({ body }, at) => {
      deadLetters.add({ id: `back${at}`, body, code: 'invalid_json', originalMessageId: `again${at}` });
      return { messageId: `again${at}` };
    });
  const around = { ports: { ...ports, events: { send } } };
  const { code, stdout, stderr } = await cli(['dlq', 'replay', '--all', '--yes'], around);
  expect(stderr).toMatch(/2 would fail again and come back: invalid_/);
  const expected = /^2 messages replayed\n2 failed again: invalid_json: expected something else\n$/;
  expect([code, stdout]).toEqual([3, expect.stringMatching(expected)]);
});

it('dlq show suggests connect, replay, edit and discard for a message of an unknown connection', async () => {
  const { cli, deadLetters } = await worldOf();
  const event = { ...{ specversion: '1.0', id: 'e', source: 's' }, time: '2026-11-20T10:00:00Z' };
  const of = { type: 'directory.group.deleted', connection: 'umbrella', data: { group: { id: 'g' } } };
  deadLetters.add({
    id: 'umbrella-1',
    body: JSON.stringify({ ...event, ...of }),
    code: 'unknown_connection',
  });
  const { stderr, stdout } = await cli(['dlq', 'show', 'umbrella']);
  deadLetters.add({ id: 'gone', body: JSON.stringify({ ...event, ...of }).replace('umbrella', '?!') });
  // The output does not show the name of the default connection's group with the same id.
  const all = (await cli(['dlq'])).stdout + stdout;
  expect(all).toMatch(/umbrella\/g .* \?\/g .*connection {2}umbrella(?!.*Blue)/s);
  for (const verb of ['connect', 'dlq replay', 'dlq edit', 'dlq discard'])
    expect(stderr).toContain(`next: groupsync ${verb} umbrella`);
});

it('dlq discard --group accepts the complete id of a group of the connection, and rejects an ambiguous name', async () => {
  const { cli, deadLetters, publish } = await worldOf();
  await publish(group('new-1', 'Blue'));
  for (const [id, of] of [['new'], ['new-1'], ['new', 'umbrella']]) {
    const event = { specversion: '1.0', connection: of, data: { group: { id } } };
    deadLetters.add({ id: `${id} ${of}`, body: JSON.stringify(event), code: 'invalid_event' });
  }
  const discard = (name: string) => cli(['dlq', 'discard', '--group', name, '--reason', 'r', '--yes']);
  expect(await discard('blue')).toMatchObject({ code: 1, stderr: expect.stringContaining('matches 2') });
  expect((await discard('new')).stdout).toBe('1 message deleted\n');
  expect(deadLetters.ids()).toEqual([...IDS, 'new-1 undefined', 'new umbrella']);
});

it.each([
  [['--code', 'invalid_json'], [IDS[1]]],
  [['--all'], []],
  [['1f9a01bd'], [IDS[0]]],
])('dlq discard deletes the messages selected by %j', async (which, left) => {
  const { cli, deadLetters } = await worldOf();
  const ran = await cli(['dlq', 'discard', ...which, '--reason', 'r', '--yes', '--json']);
  expect(ran).toMatchObject({ code: 0, json: { discarded: 2 - left.length, missing: 0 } });
  expect(deadLetters.ids()).toEqual(left);
});

it('dlq edit fails immediately if no editor is set', async () => {
  const { cli, deadLetters } = await worldOf();
  deadLetters.onTake = () => expect.unreachable('nothing is looked for');
  const stderr = expect.stringContaining('EDITOR');
  expect(await cli(['dlq', 'edit', IDS[0]])).toMatchObject({ code: 2, stderr });
});

it('after a refused edit, dlq edit opens the editor again with the text of the operator', async () => {
  const folder = temporaryFolder();
  const [editor, log] = [join(folder, 'editor.mjs'), join(folder, 'log')];
  writeFileSync(
    editor,
    `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
       const text = readFileSync(process.argv[2], 'utf8');
       appendFileSync(${JSON.stringify(log)}, text + '|');
       writeFileSync(process.argv[2], text + '!');`,
  );
  const { cli } = await worldOf();
  const env = { EDITOR: `'${process.execPath}' '${editor}'` };
  const person = ['y\r', 'n\r'].map((types) => ({ sees: 'Open the editor again?', types }));
  expect(await cli(['dlq', 'edit', IDS[0]], { env, person })).toMatchObject({ code: 1 });
  expect(readFileSync(log, 'utf8')).toBe('{|{!|');
});
