import { expect, it } from 'vitest';
import { savedWorld, sixInSync } from '../support/operate/world.ts';

const MINUTE = 60_000;
const GOOGLE = { kind: 'google', administrator: 'admin@acme.test' } as const;
const expecting = (expectEvery: { events?: number; scim?: number; directory?: number }) => ({
  sources: { expectEvery: { events: null, scim: null, directory: null, ...expectEvery } },
});

it('status shows the age of the last event of a source, and how often events are expected', async () => {
  const world = await sixInSync(expecting({ events: 5 }));
  world.clock.ms += 1.9 * MINUTE;
  expect((await world.cli('status')).stdout).toContain(
    'received within the last 2 min, expected every 5 min\n',
  );
  world.clock.ms += 1.1 * MINUTE;
  const { code, stdout } = await world.cli('status');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(
      /^source {6}events +last received about 3 min ago \(imports and replays do not count\), expected every 5 min$/m,
    ),
  ]);
  const { json } = await world.cli('status', '--json');
  expect(json).toMatchObject({
    sources: [
      {
        source: 'events',
        receivedAt: '2026-11-20T10:00:00.000Z',
        receivedAgeMs: 3 * MINUTE,
        expectedEveryMs: 5 * MINUTE,
        late: false,
      },
    ],
  });
});

it('status exits with 3 if events are late, and doctor names the fix', async () => {
  const world = await sixInSync(expecting({ events: 5 }));
  world.clock.ms += 16 * MINUTE;
  const { code, stdout, stderr } = await world.cli('status');
  expect(stdout).toContain(
    'last received about 16 min ago (imports and replays do not count), expected every 5 min; late',
  );
  expect(stderr).toContain('next: groupsync doctor --faults');
  expect(code).toBe(3);
  const { json } = await world.cli('doctor', '--faults', '--json');
  expect(json.checks).toContainEqual({
    name: 'default: source events',
    ok: false,
    detail: 'last received about 16 min ago (imports and replays do not count), expected every 5 min; late',
    fix: expect.stringContaining('\ngroupsync connections set default sources.expectEvery.events=1440'),
  });
});

it('directory status shows the age of the last read, and exits with 3 if a read is late', async () => {
  const { cli, ports, clock } = await savedWorld({ directory: GOOGLE });
  const name = 'default' as never;
  await ports.sources.noteReceipt(name, { source: 'directory', nowMs: clock.ms, everyMinutes: 5 });
  clock.ms += 3 * MINUTE;
  const fresh = await cli('directory', 'status');
  expect(fresh.stdout).toContain('last received about 3 min ago, expected every 5 min\n');
  expect(fresh.code).toBe(0);
  clock.ms += 13 * MINUTE;
  const late = await cli('directory', 'status', '--json');
  expect(late.json.freshness).toMatchObject({ source: 'directory', late: true });
  expect([late.code, late.stderr]).toEqual([3, expect.stringContaining('next: groupsync doctor --faults')]);
});
