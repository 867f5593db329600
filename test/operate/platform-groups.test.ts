import { expect, it } from 'vitest';
import { connectionName, groupId } from '../../shared/domain/ids.ts';
import { releaseGroup } from '../../shared/operate/ownership.ts';
import { certainPairs, listPlatformGroups, previewAdoptions } from '../../shared/operate/platform-groups.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import { runCli } from '../support/cli/io.ts';
import { asking } from '../support/console/asking.ts';
import { guardLimits } from '../support/guard-limits.ts';
import { added, group, removed, savedWorld } from '../support/operate/world.ts';

const DEFAULT = connectionName('default');

async function world(settings: Parameters<typeof savedWorld>[0] = {}) {
  const made = await savedWorld(settings);
  const list = async () => listPlatformGroups(await requireConnection(DEFAULT, made.ports), made.ports);
  /** Adds a group of another client, and returns its id. */
  const other = (name: string, spokeId = 'of-another-client', users: readonly string[] = []) => {
    const id = made.platform.addForeign({ name, spokeId, users });
    made.platform.adopted.add(id as never);
    return id;
  };
  const rowsById = async () => new Map((await list()).groups.map((row) => [row.platformId, row]));
  return { ...made, list, other, rowsById };
}

/**
 * Returns a directory group, and the platform group "night shift" of another client with three users to remove: one who
 * has left the company, one who has left the directory group, and one that the directory does not know.
 */
async function adoptable(fourEyes: boolean) {
  const made = await world({ guard: guardLimits({}), fourEyes });
  const { publish, hire, ports, apply, other, platform } = made;
  await hire('ann', 'bob', 'cid');
  await publish(group('n', 'Night Shift'), added('n', 'ann', 'bob', 'cid'));
  await publish(removed('n', 'cid'));
  await made.leaves('bob');
  const night = other('night shift', 'x', ['u-bob', 'u-cid', 'u-other']);
  const wake: typeof ports.applyQueue.wake = async () => apply('n').then(() => []);
  return { applying: { ...ports, applyQueue: { ...ports.applyQueue, wake } }, apply, platform, night };
}

it('a platform group is listed as managed, as unmanaged, or as adoptable by external id or by name', async () => {
  const { publish, other, rowsById, list, platform, deliver } = await world();
  await deliver('m', group('m', 'Managed'));
  const [managed = ''] = platform.groups.keys();
  await publish(group('a', 'Aviation'), group('b', 'Boats'));
  const byId = other('Other', 'A');
  const byName = other('  boats ', 'x');
  const none = other('Chess');
  const nameless = other('Boats');
  platform.malformed.add(nameless);
  const rows = await rowsById();
  expect(rows.get(managed)).toMatchObject({ state: 'managed', owner: { group: 'm', name: 'Managed' } });
  expect(rows.get(byId)).toMatchObject({ state: 'adoptable', matches: [{ group: 'a', by: 'spokeId' }] });
  expect(rows.get(byName)).toMatchObject({ state: 'adoptable', matches: [{ group: 'b', by: 'name' }] });
  expect(rows.get(none)).toMatchObject({ state: 'unmanaged', matches: [], ambiguous: false });
  expect(rows.get(nameless)).toMatchObject({ state: 'unmanaged', name: null, matches: [] });
  expect((await list()).totals).toEqual({ managed: 1, adoptable: 2, unmanaged: 2 });
});

it('a match is ambiguous if several groups match by external id, or several by name', async () => {
  const { publish, other, rowsById, list } = await world();
  await publish(group('a', 'Aviation'), group('b', 'Boats'), group('b2', 'boats'), group('c', 'Chess'));
  const twins = [other('aviation'), other('Aviation')];
  const boats = other('Boats');
  const carrier = other('Anything', 'c');
  const named = other('Chess');
  const rows = await rowsById();
  const ambiguous = [...twins, boats, named];
  for (const id of ambiguous) expect(rows.get(id)).toMatchObject({ state: 'adoptable', ambiguous: true });
  // A match by external id takes precedence over a match by name.
  expect(rows.get(carrier)).toMatchObject({ ambiguous: false });
  expect(certainPairs(await list())).toEqual([{ group: 'c', platformId: carrier }]);
});

it('a released or excluded directory group matches no platform group', async () => {
  const { publish, ports, other, rowsById } = await world({
    groups: { include: ['*'], exclude: ['x'], policies: [] },
  });
  await publish(group('r', 'Released'), group('x', 'Excluded'));
  await releaseGroup({ connection: DEFAULT, group: groupId('r') }, ports);
  const ids = [other('Released'), other('Excluded')];
  const rows = await rowsById();
  for (const id of ids) expect(rows.get(id)).toMatchObject({ state: 'unmanaged', matches: [] });
});

it('the preview of an adoption equals what the adoption writes', async () => {
  const guard = guardLimits({ minSize: 3, maxRemovedShare: 0.5 });
  const { publish, hire, ports, apply, cli, other, platform } = await world({ guard });
  await hire('ann');
  await publish(group('n', 'Night Shift'), added('n', 'ann'), group('d', 'Day Shift'));
  const night = other('night shift', 'x', ['u-other']);
  const day = other('Day Shift', 'y', ['u-1', 'u-2', 'u-3']);
  const pairs = [
    { group: 'n', platformId: night },
    { group: 'd', platformId: day },
    { group: 'nowhere', platformId: day },
  ];
  const before = JSON.stringify([...platform.groups]);
  const connection = await requireConnection(DEFAULT, ports);
  expect(await previewAdoptions(connection, pairs, ports)).toMatchObject([
    {
      group: 'n',
      name: 'night shift',
      renamedTo: 'Night Shift',
      added: 1,
      removed: 0,
      held: 1,
      problem: null,
    },
    { group: 'd', renamedTo: null, added: 0, removed: 0, held: 3, problem: null },
    { group: 'nowhere', problem: 'the directory has no such group' },
  ]);
  expect(JSON.stringify([...platform.groups])).toBe(before);
  const ran = await cli('adopt', 'n', night, '--yes', '--no-wait');
  expect(ran.stderr).toContain('1 added, 0 removed, 1 held, renamed to "Night Shift"');
  await apply('n');
  expect(platform.groups.get(night as never)).toMatchObject({
    name: 'Night Shift',
    users: ['u-other', 'u-ann'],
  });
});

it.each([false, true])(
  'adopt --digest also approves the removals that the preview showed, but not under four eyes (%s)',
  async (fourEyes) => {
    const { applying, apply, platform, night } = await adoptable(fourEyes);
    // Under four eyes, the command asks no question.
    const answer = fourEyes ? [] : ['--yes'];
    const adopt = (digest = '') =>
      runCli(['adopt', 'n', night, '--digest', digest, '--reason', 'no member', ...answer], {
        ports: applying,
      });
    const wrong = await adopt('0000');
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('expected the digest of the preview'),
    ]);
    const [, approval, digest] = /(adopt n|holds approve n)[^;]* --digest (\w+)/.exec(wrong.stderr) ?? [];
    const ran = await adopt(digest);
    if (fourEyes)
      expect([approval, ran.stderr]).toEqual(['holds approve n', expect.stringContaining('second approver')]);
    else expect([approval, ran.code]).toEqual(['adopt n', 0]);
    await apply('n');
    expect(platform.groups.get(night as never)?.users).toEqual(
      fourEyes ? ['u-bob', 'u-cid', 'u-other'] : ['u-ann'],
    );
  },
);

it.each([
  ['four eyes', 0, expect.stringContaining('requires a second approver')],
  ['others than shown', 0, expect.stringContaining('adopted, but its removals still wait')],
  ['as shown', 3, undefined],
])(
  'the console also approves the removals that its preview showed, but no others, and not under four eyes (%s)',
  async (kind, count, expected) => {
    const { applying, apply, platform, night: platformId } = await adoptable(kind === 'four eyes');
    const ask = asking(applying, DEFAULT);
    const asked = { pairs: [{ group: 'n', platformId }] };
    const { adoptions } = await ask('preview-adoptions', asked);
    const pairs = kind === 'others than shown' ? [{ ...asked.pairs[0], digest: 'other' }] : adoptions;
    const { message } = await ask('adopt', { pairs, reason: 'no member' });
    await apply('n');
    const left = platform.groups.get(platformId as never)?.users ?? [];
    const removed = ['u-bob', 'u-cid', 'u-other'].filter((user) => !left.includes(user));
    expect([removed.length, message]).toEqual([count, expected]);
  },
);

it('adopt --all --digest approves the removals of all groups, if they are as in the preview', async () => {
  const { publish, hire, ports, apply, other, platform } = await world({ guard: guardLimits({}) });
  await hire('ann');
  for (const [id, name] of Object.entries({ n: 'Night', d: 'Day' })) {
    await publish(group(id, name), added(id, 'ann'));
    other(name, 'x', ['u-other']);
  }
  const wake: typeof ports.applyQueue.wake = async (refs) => {
    for (const ref of refs) await apply(ref.group);
    return [];
  };
  const applying = { ...ports, applyQueue: { ...ports.applyQueue, wake } };
  const adopt = (digest: string) => {
    const args = ['adopt', '--all', '--digest', digest, '--reason', 'no member', '--yes'];
    return runCli(args, { ports: applying });
  };
  const [, digest = ''] = /of all groups too: --digest (\w+)/.exec((await adopt('00')).stderr) ?? [];
  expect((await adopt(digest)).code).toBe(0);
  for (const id of ['n', 'd']) await apply(id);
  expect([...platform.groups.values()].map(({ users }) => users)).toEqual([['u-ann'], ['u-ann']]);
});

it('a managed group, a group without a match and a missing group are refused with the next step', async () => {
  const { deliver, cli, other, platform } = await world();
  await deliver('m', group('m', 'Managed'), group('n', 'Next'));
  const [managed = ''] = platform.groups.keys();
  const adopt = async (...args: string[]) => (await cli('adopt', ...args, '--yes')).stderr;
  expect(await adopt('n', managed)).toContain('it belongs to the group m');
  const nameless = other('Nameless');
  expect(await adopt('m', nameless)).toContain(`the group already has the platform group ${managed}`);
  platform.malformed.add(nameless);
  for (const id of ['gone', nameless])
    expect(await adopt('n', id)).toContain('the platform does not show such a group');
  for (const bad of [[], ['n'], ['n', 'p', '--all'], ['--all', '--create'], ['n', 'p', '--create']])
    expect(await adopt(...bad)).toContain('expected a group with the id of a platform group');
  expect((await cli('platform-groups', '--state', 'x')).stderr).toContain('Allowed choices are managed');
});
