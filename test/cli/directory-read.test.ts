import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { savedWorld } from '../support/operate/world.ts';

const REASON = '2 of 8 known groups are missing in the directory';

/** Creates a connection whose reader has stopped. The function deletes two groups if the deletions are accepted. */
async function stoppedReader() {
  const { ports, connection } = await savedWorld();
  await ports.sources.noteReader(connection.name, { stopped: { sinceMs: 1, reason: REASON } });
  const counts = { groups: 6, reported: 0, read: 0, sent: 2, failed: 0, waiting: 0, unreadable: [] };
  const functions = {
    run: async (_: string, event: object) => {
      const isAccepted = 'acceptDeletions' in event && event.acceptDeletions === true;
      return {
        reports: [{ connection: connection.name, ...counts, deleted: isAccepted ? ['g1', 'g2'] : [] }],
      };
    },
  };
  const run = (...args: string[]) => runCli([...args, '--json'], { ports: { ...ports, functions } });
  return { run };
}

it.each(['status', 'directory status'])(
  '%s shows the reason of a stopped reader and no receipt, and exits with 3',
  async (command) => {
    const directory = { kind: 'google', administrator: 'admin@acme.test' } as const;
    const { cli: run, ports, connection, clock } = await savedWorld({ directory });
    const cli = () => run(...command.split(' '));
    await ports.sources.noteReceipt(connection.name, { source: 'directory', nowMs: clock.ms });
    expect(await cli()).toMatchObject({ code: 0, stdout: expect.stringContaining('within the last 2 min') });
    await ports.sources.noteReader(connection.name, { shortGroups: 2 });
    const short = expect.stringContaining('2 groups cannot be read completely');
    expect(await cli()).toMatchObject({ code: 3, stdout: short });
    await ports.sources.noteReader(connection.name, { stopped: { sinceMs: clock.ms, reason: REASON } });
    const { code, stdout, stderr } = await cli();
    expect(stdout).toContain(`stopped since 2026-11-20T10:00:00.000Z: ${REASON}`);
    expect(stdout).not.toContain('within the last 2 min');
    expect({ code, stderr }).toEqual({ code: 3, stderr: 'next: groupsync doctor --faults\n' });
  },
);

it('directory read --accept-deletions records the operator, the reason of the stop and the deleted groups', async () => {
  const { run } = await stoppedReader();
  expect((await run('directory', 'read', '--accept-deletions', '--yes')).code).toBe(0);
  const { json } = await run('log', '--action', 'directory');
  const entries = json.entries.map(({ action, actor, changes }: Entry) => [
    action,
    actor.id === '' ? 'missing' : actor.kind,
    changes.map(({ kind, before }) => [kind, before]),
  ]);
  expect(entries).toEqual([
    ['directory_accept_deletions', 'operator', [['accept_deletions', REASON]]],
    [
      'directory_accepted_deletions',
      'operator',
      [
        ['delete_group', 'g1'],
        ['delete_group', 'g2'],
      ],
    ],
  ]);
});

it('directory read without --accept-deletions records no action', async () => {
  const { run } = await stoppedReader();
  expect((await run('directory', 'read')).code).toBe(0);
  expect((await run('log', '--action', 'directory')).json.entries).toEqual([]);
});

interface Entry {
  readonly action: string;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly changes: readonly { readonly kind: string; readonly before: string | null }[];
}
