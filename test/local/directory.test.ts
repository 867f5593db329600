import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { LOCAL_KINDS, openDirectory } from '../../local/directory/open-directory.ts';
import { worldOfEvents } from '../../local/directory/world-of-events.ts';
import { readableReport } from '../../local/output.ts';
import { ConnectionSettings } from '../../shared/contract/settings.ts';
import { createDirectories } from '../../shared/directory/vendors/directories.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { allOf } from '../directory/vendors/google/reader.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 10);
let minute = 0;

function line(type: string, data: object) {
  minute += 1;
  const time = new Date(NOW_MS - 3_600_000 + minute * 1_000).toISOString();
  const event = {
    specversion: '1.0',
    id: `e${minute}`,
    source: 'test',
    type: `directory.${type}`,
    time,
    data,
  };
  return { file: 'events.jsonl', line: minute, text: JSON.stringify(event) };
}

const member = (id: string) => ({ id, email: `${id}@acme.test` });
const group = (id: string) => ({ id, name: `Group ${id}` });

function membersByGroup(lines: Parameters<typeof worldOfEvents>[0]) {
  const { groups = [], users = [] } = worldOfEvents(lines, NOW_MS);
  const emails = new Map(users.map(({ id, primaryEmail }) => [id, primaryEmail]));
  return Object.fromEntries(
    groups.map(({ name, members = [] }) => [name, members.map((one) => emails.get(one.member)).sort()]),
  );
}

it('the simulated directory starts with the groups and members that exist after all events of the files', () => {
  const lines = [
    line('group.snapshot', { group: group('g'), members: [member('a'), member('b')] }),
    line('group.member.added', { group: { id: 'g' }, members: [member('c'), member('d')] }),
    line('group.member.removed', { group: { id: 'g' }, members: [{ id: 'a' }] }),
    line('user.upserted', { user: { id: 'b', email: 'bob@acme.test' } }),
    line('user.deleted', { user: { id: 'd' } }),
    line('group.upserted', { group: { id: 'g', name: 'Crew' } }),
    line('group.upserted', { group: group('gone') }),
    line('group.deleted', { group: { id: 'gone' } }),
    line('group.member.added', { group: { id: 'never' }, members: [member('a')] }),
  ];
  expect(membersByGroup(lines)).toEqual({ Crew: ['bob@acme.test', 'c@acme.test'] });
});

it.each(LOCAL_KINDS)('the reader opens the local directory of %s with setting and secret', async (kind) => {
  const members = [member('a'), member('b')];
  const lines = [line('group.snapshot', { group: group('g'), members })];
  const { setting, key, close } = await openDirectory(kind, worldOfEvents(lines, NOW_MS));
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await dispatcher.destroy();
    await close();
  });
  const directories = createDirectories(
    { read: async () => key },
    {
      dispatcher,
      clock: Date.now,
      random: () => 0.5,
      sleep: async () => {},
      webIdentity: async () => 'none',
      publicOnly: false,
    },
  );
  const directory = await directories.open({
    name: connectionName('acme'),
    company: 'c',
    observing: false,
    settings: ConnectionSettings.parse({ baseUrl: 'https://platform.test', directory: setting }),
  });
  const [found] = (await allOf(directory.groups())).filter(({ name }) => name === 'Group g');
  if (found === undefined) throw new Error('expected the group');
  expect(await allOf(directory.membersOf(found.id, 'ignore'))).toHaveLength(2);
});

it('the try command of a simulated directory makes a change in this directory', async () => {
  const members = [member('a'), member('b')];
  const lines = [line('group.snapshot', { group: group('g'), members })];
  const directory = await openDirectory('google', worldOfEvents(lines, NOW_MS));
  onTestFinished(directory.close);
  const text = readableReport(
    { converged: true, groups: [], elapsedMs: 1, address: {} as never, directory },
    { once: false, localFile: 'local.json', logPath: 'log' },
  );
  expect(text).toContain(`directory   ${directory.url}`);
  const command = text.split('\n').find((shown) => shown.startsWith('curl ')) ?? '';
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} --silent --fail --show-error`]);
  expect(JSON.parse(stdout)).toBeDefined();
  const state = await (await fetch(`${directory.url}/_simulator/state`)).json();
  expect(JSON.stringify(state)).not.toContain('"member":"a"');
});
