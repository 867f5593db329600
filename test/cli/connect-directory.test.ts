import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OUTPUT_SCHEMAS } from '../../cli/schemas.ts';
import { openGoogle } from '../directory/google/reader.ts';
import { ADMIN } from '../directory-simulator/fixture.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { savedWorld, sixInSync } from '../support/operate/world.ts';

/** A connection, and a directory that it may be connected to. */
async function worldOf(saved: () => Promise<Awaited<ReturnType<typeof savedWorld>>> = savedWorld) {
  const world = await saved();
  const google = await openGoogle();
  google.clock.ms = world.clock.ms;
  const stored: unknown[] = [];
  const directoryApplicants = {
    present: async () => google.directory,
    stored: async () => google.directory,
    store: async (_: unknown, key: unknown) => void stored.push(key),
  };
  const ports = { ...world.ports, directoryApplicants };
  const key = join(temporaryFolder(), 'key.json');
  writeFileSync(key, JSON.stringify(google.key));
  const args = ['connect', 'default', '--directory', 'google', '--administrator', ADMIN, '--key', key];
  return {
    google,
    stored,
    connect: (...more: string[]) => runCli([...args, '--yes', '--json', ...more], { ports }),
    run: (...given: string[]) => runCli(given, { ports }),
    setting: async () => (await ports.connections.current('default' as never))?.settings.directory,
  };
}

describe('connect --directory', () => {
  it('shows the groups and stores the key and the setting', async () => {
    const { connect, stored, setting, google } = await worldOf();
    const { code, json, stderr } = await connect();
    expect(OUTPUT_SCHEMAS.connect.parse(json)).toMatchObject({
      connection: 'default',
      stored: true,
      kind: 'google',
      listed: 4,
      selected: 4,
      others: [],
    });
    expect(json.sample).toContainEqual({
      group: 'g-emea',
      name: 'EMEA',
      members: 1,
      matched: 0,
      problem: null,
    });
    expect(json.sample.find(({ group }: { group: string }) => group === 'g-all').problem).toContain(
      'every user',
    );
    expect(stderr).toContain('4 groups in the directory, 4 selected');
    expect(code).toBe(0);
    expect(stored).toEqual([google.key]);
    expect(await setting()).toEqual({ kind: 'google', administrator: ADMIN });
  });

  it.each([
    ['a scope is missing', { scopes: ['https://www.googleapis.com/auth/admin.directory.group.readonly'] }],
    ['nothing is delegated', { scopes: [] }],
  ])('stores nothing if %s', async (_, delegation) => {
    const { connect, stored, setting, google } = await worldOf();
    await google.control('delegation', delegation);
    const { code, stderr } = await connect();
    expect(code).toBe(1);
    expect(stderr).toContain('nothing was stored: token: the directory answered 401 (unauthorized_client)');
    expect([stored, await setting()]).toEqual([[], null]);
  });

  it('stores nothing if groups came from another source that the directory does not have', async () => {
    const { connect, stored, setting } = await worldOf(sixInSync);
    const { code, json } = await connect();
    expect(code).toBe(1);
    expect(json).toMatchObject({ stored: false, others: ['g'] });
    expect([stored, await setting()]).toEqual([[], null]);
  });

  it('asks for the administrator and the key', async () => {
    const { run } = await worldOf();
    const { code, stderr } = await run('connect', 'default', '--directory', 'google');
    expect(code).toBe(2);
    expect(stderr).toContain('--directory: expected --administrator ADDRESS and --key FILE too');
  });
});
