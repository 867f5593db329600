import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { connectionName } from '../../shared/domain/ids.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { added, group, portsAs, savedWorld } from '../support/operate/world.ts';

let world: Awaited<ReturnType<typeof savedWorld>>;
let cwd: string;
const as = (by: string, ...args: string[]) => runCli(args, { ports: portsAs(by, world.ports), cwd });
const cli = (...args: string[]) => as('local:tester', ...args);
const apply = (...more: string[]) => cli('connections', 'apply', '-f', 'out', '--json', '--yes', ...more);
const pathOf = (name: string) => join(cwd, 'out', `${name}.json`);
const read = (name: string) => JSON.parse(readFileSync(pathOf(name), 'utf8'));
const write = (name: string, content: object) => writeFileSync(pathOf(name), JSON.stringify(content));
const edit = (name: string, change: object) => write(name, { ...read(name), ...change });
const stored = () => JSON.stringify([...world.table.items.values()]);
const settingsOf = async (name: string) =>
  (await world.ports.connections.find(connectionName(name)))?.settings;
const names = Array.from({ length: 39 }, (_, n) => `company-${n}`);

beforeEach(async () => {
  world = await savedWorld();
  cwd = temporaryFolder();
  for (const name of names) {
    await world.ports.connections.save({ ...world.connection, name: connectionName(name), company: name });
  }
  await cli('connections', 'export', 'out', '--yes');
});

it('connections export writes a file for each of 40 connections, which apply finds equal, and writes nothing', async () => {
  expect(readdirSync(join(cwd, 'out'))).toHaveLength(41);
  const before = stored();
  const { code, json } = await apply();
  expect([code, json]).toEqual([0, { applied: false, compared: 40, connections: [] }]);
  const again = await cli('connections', 'export', 'out', '--json');
  expect(again.json).toMatchObject({ written: [] });
  expect(stored()).toBe(before);
});

it('connections apply changes the settings that a file changes, and a second run writes nothing', async () => {
  await world.hire('ann');
  await world.deliver('g', group('g', 'Blue'), added('g', 'ann'));
  edit('default', { people: { exclude: ['email=ann@acme.test'] }, concurrency: 4 });
  edit('company-7', { mode: 'additive' });
  const shown = await cli('connections', 'apply', '-f', 'out', '--yes');
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('changed: 2 of 40 connections')]);
  expect(shown.stderr).toContain('default: concurrency: 8 → 4');
  expect(shown.stderr).toContain('1 of 1 group would change: 0 added, 1 removed');
  expect([await settingsOf('default'), await settingsOf('company-7')]).toMatchObject([
    { people: { exclude: ['email=ann@acme.test'] }, concurrency: 4 },
    { mode: 'additive' },
  ]);
  const before = stored();
  expect((await apply()).json).toMatchObject({ applied: false, connections: [] });
  expect(stored()).toBe(before);
});

it('connections apply --check names a change by hand with its actor and time, and ends with 3', async () => {
  await as('ann', 'connections', 'set', 'company-3', 'guard.maxRemovedCount=7', '--yes');
  const before = stored();
  const { code, json } = await apply('--check');
  const set = { by: 'ann', at: new Date(world.clock.ms).toISOString() };
  expect([code, json]).toMatchObject([
    3,
    { applied: false, connections: [{ name: 'company-3', changes: [{ key: 'guard', set }] }] },
  ]);
  const { stderr } = await cli('connections', 'apply', '-f', 'out', '--check');
  expect(stderr).toMatch(
    /^company-3: guard\.maxRemovedCount: 7 → \d+; the present value was set by ann at /m,
  );
  expect(stderr).toContain('next: groupsync connections apply -f out');
  expect(stored()).toBe(before);
});

it('one bad file changes no connection, and each problem names its file, its setting and the expected value', async () => {
  edit('company-1', { mode: 'additive' });
  edit('company-2', { guard: { maxRemovedShare: 2 } });
  edit('company-4', { drift: 'restore' });
  writeFileSync(pathOf('company-5'), '{"mode": ');
  write('company-6', []);
  edit('company-8', { baseUrl: undefined });
  write('stranger', read('company-9'));
  mkdirSync(pathOf('folder'));
  writeFileSync(join(cwd, 'out', 'company-10.JSON'), '{}');
  const before = stored();
  const { code, stderr } = await cli('connections', 'apply', '-f', 'out', '--yes');
  expect(code).toBe(2);
  expect(stderr).toContain('nothing was changed');
  for (const [name, problem] of [
    ['company-2', 'guard.maxRemovedShare: expected a number from 0 to 1, got 2'],
    ['company-4', 'settings: unknown "drift"'],
    ['company-5', 'expected JSON, got 9 characters'],
    ['company-6', 'expected an object of connection settings'],
    ['company-8', 'baseUrl: expected an https URL'],
    ['stranger', 'there is no connection stranger; to create it: groupsync connect stranger'],
    ['folder', 'expected a file, got a folder'],
  ])
    expect(stderr).toContain(`out/${name}.json: ${problem}`);
  expect(stderr).toContain('out/company-10.JSON: expected a connection name of a-z');
  expect(stored()).toBe(before);
});

it('under four eyes, a weaker setting becomes a request, which a second run does not repeat, and another person confirms', async () => {
  edit('default', { fourEyes: true });
  await apply();
  edit('default', { guard: null, concurrency: 2 });
  const first = await apply();
  expect(first.json.connections).toMatchObject([{ name: 'default', requested: ['guard'] }]);
  expect(await settingsOf('default')).toMatchObject({ guard: { minSize: 5 }, concurrency: 2 });
  const before = stored();
  const second = await as('other', 'connections', 'apply', '-f', 'out', '--yes');
  expect([second.code, stored()]).toEqual([0, before]);
  expect(second.stderr).toContain('was requested by local:tester');
  expect(second.stderr).toContain('next, by another person: groupsync connections confirm default');
  expect((await apply('--check')).code).toBe(3);
  await as('other', 'connections', 'confirm', 'default', '--yes');
  expect(await settingsOf('default')).toMatchObject({ guard: null });
  expect((await apply('--check')).code).toBe(0);
});

it('the schema next to the files names each setting with its values and limits', () => {
  const { properties } = read('settings.schema');
  expect(Object.keys(properties)).toEqual(['$schema', ...Object.keys(world.connection.settings)]);
  expect(properties).toMatchObject({
    mode: { enum: ['authoritative', 'additive', 'report'], default: 'authoritative' },
    concurrency: { type: 'integer', minimum: 1, maximum: 64 },
    auditReads: { type: 'boolean' },
  });
  expect(read('default')).toMatchObject({ $schema: './settings.schema.json', mode: 'authoritative' });
});

it('an export asks before it replaces a file that a person changed', async () => {
  edit('default', { mode: 'report' });
  const { code, stderr } = await cli('connections', 'export', 'out');
  expect([code, read('default').mode]).toEqual([2, 'report']);
  expect(stderr).toContain('--yes');
  await cli('connections', 'export', 'out', '--yes');
  expect(read('default').mode).toBe('authoritative');
});
