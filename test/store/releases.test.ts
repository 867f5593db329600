import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { groupId, memberId, platformGroupId, roleId } from '../../shared/domain/ids.ts';
import { groupKey } from '../../shared/store/keys.ts';
import type { Item } from '../../shared/store/table.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { allStoresOver } from '../../simulate/engine.ts';
import type { HeldGroup } from '../../simulate/platform/facts.ts';
import { suspectChanged } from '../support/engine/look-over.ts';
import { allOf, story } from '../support/engine/story.ts';
import { COMPANY, CONNECTION, NO_FAULTS } from '../support/engine/world.ts';

/**
 * A table as commit 33bd517 wrote it, in the middle of everything: groups linked, dirty, suspected, released, with an
 * open intent of each action, holds, drift and bindings. With it the platform's groups, and the forms of items that the
 * release read.
 */
const BEFORE = JSON.parse(
  gunzipSync(readFileSync(new URL('fixtures/table-33bd517.json.gz', import.meta.url))).toString(),
) as {
  readonly atMs: number;
  readonly forms: Readonly<Record<string, z.core.JSONSchema.JSONSchema>>;
  readonly groups: readonly HeldGroup[];
  readonly items: readonly Item[];
};

const kindOf = ({ pk, sk }: Item) => `${pk.split('#')[0]} ${/^[A-Z]+(?=#|$)/.exec(sk)?.[0] ?? ''}`.trim();
const countOf = (...kinds: readonly string[]) =>
  BEFORE.items.filter((item) => kinds.includes(kindOf(item))).length;

async function restored() {
  const told = await story();
  const { world } = told;
  for (const item of BEFORE.items) await world.table.put(item);
  for (const group of BEFORE.groups) {
    (world.platform.groups as Map<string, HeldGroup>).set(group.id, { ...group, users: [...group.users] });
    if (group.madeBy === 'somebody') world.platform.adopted.add(group.id);
  }
  world.advance(BEFORE.atMs - world.nowMs());
  return told;
}

describe('a table of the release before', () => {
  it('is read, every item of it', async () => {
    const { world, ref } = await restored();
    const stores = allStoresOver(world.table);
    const named = (kind: string, attribute: string) =>
      BEFORE.items.filter((item) => kindOf(item) === kind).map((item) => String(item[attribute]));
    const refs = named('G GROUP', 'group').map(ref);
    const groups = await stores.groups.readMany(refs);
    const counts = { member: 0, audit: 0, chunks: 0 };
    for (const { ref: each, view, intent, hold } of groups) {
      counts.member += (await stores.groups.members(each)).length;
      counts.audit += (await allOf(stores.audit.read(each))).length;
      for (const pointer of [view, intent?.view].filter((one) => one !== undefined)) {
        expect((await stores.groups.readView(each, pointer))?.users.size).toBe(pointer.size);
        counts.chunks += pointer.chunks;
      }
      if (hold !== undefined) expect((await stores.groups.readHeld(each, hold))?.size).toBe(hold.removes);
    }
    expect([groups.length, counts.member, counts.audit]).toEqual([
      countOf('G GROUP'),
      countOf('G M'),
      countOf('G A'),
    ]);
    expect(counts.chunks).toBeGreaterThan(15);
    const users = named('U USER', 'member').map(memberId);
    expect((await stores.users.read(CONNECTION, users)).size).toBe(countOf('U USER'));
    expect(await allOf(stores.users.openWalks(CONNECTION))).toEqual(['b']);
    const people = named('R PERSON', 'role').map(roleId);
    expect((await stores.people.read(CONNECTION, people)).size).toBe(countOf('R PERSON'));
    expect((await allOf(stores.drift.list(CONNECTION))).length).toBe(countOf('C DRIFT'));
    const claimed = named('L', 'platformId').map(platformGroupId);
    const { now, before } = await stores.claims.owners(COMPANY, claimed);
    expect([now.size + before.size, before.size]).toEqual([countOf('L'), 1]);
    const connections = await world.onlooker.connections.list();
    expect(connections.length).toBe(countOf('C CONNECTION'));
    const gates = await Promise.all(connections.map(({ name }) => stores.gates.read(name)));
    expect(gates.map(({ state }) => state).sort()).toEqual(['backoff', 'open', 'paused', 'unauthorized']);
    expect(await stores.feed.read(CONNECTION)).toMatchObject({ cursor: 'c1', needsSweep: true });
    expect(await stores.health.read(CONNECTION)).toMatchObject({ lastFailure: { message: 'm' } });
    expect((await stores.guard.recent(ref('g'), BEFORE.atMs, [])).connection).toBeGreaterThan(0);
    const resources = [stores.scim.list(CONNECTION, 'User'), stores.scim.list(CONNECTION, 'Group')];
    expect((await Promise.all(resources.map(allOf))).map(([one]) => one?.state)).toEqual(['live', 'ending']);
    expect((await stores.tokens.find('abcdefgh'))?.revokedMs).toBeDefined();
  });

  it('is gone on with where it was left, and nobody is lost', async () => {
    const { world, tell, shown, state } = await restored();
    await tell();
    const members = (...ids: readonly string[]) => ids.map((id) => `u-${id}`);
    const all = members('a', 'b', 'c', 'd', 'e', 'f');
    const expected: Readonly<Record<string, readonly (readonly string[])[]>> = {
      clean: [members('a', 'b')],
      // Tried again when the person changes.
      refused: [members('a')],
      gone: [],
      unnamed: [],
      excluded: [],
      released: [members('a', 'b')],
      paused: [members('a', 'b')],
      held: [all],
      approved: [members('a')],
      rejected: [all],
      drifted: [members('a', 'b', 'c')],
      restoring: [members('a', 'b', 'c')],
      reported: [members('a', 'b', 'z')],
      adopted: [members('a', 'z')],
      'reported-gone': [],
      patched: [members('a', 'b')],
      put: [members('a', 'd')],
      deleted: [],
      missed: [members('a', 'b', 'c')],
      owed: [members('a', 'b')],
      busy: [members('a', 'b', 'c')],
      failed: [],
      created: [members('a', 'b')],
      'created-not': [members('a', 'b')],
      new: [members('a', 'b', 'c')],
    };
    const groups = Object.keys(expected);
    expect(Object.fromEntries(groups.map((group) => [group, shown(group)]))).toEqual(expected);
    expect([...world.platform.groups.values()].map(({ name }) => name)).toContain('Renamed');
    const states = await Promise.all(groups.map(state));
    const unfinished = states.filter((one) => one?.dirtySinceMs !== undefined || one?.intent !== undefined);
    expect(unfinished.map((one) => one?.ref.group)).toEqual(['paused']);
    expect(world.platform.violations).toEqual([]);
    expect(world.deadLetters).toEqual([]);
  });
});

describe('what this release writes', () => {
  it('has the forms that the release before read, doubt and contest included', async () => {
    const { world, troubles, hire, tell, say, work, shown, state } = await story();
    await hire('a', 'b', 'c');
    await tell({ snapshot: 'g', of: ['a', 'b'] }, { snapshot: 'h', of: ['a', 'b'] });
    expect(shown('g')).toEqual([['u-a', 'u-b']]);
    troubles.platform = (call) => (call === 'patch' ? 'lost_late' : 'none');
    say({ add: ['c'], to: 'g' }, { take: ['b'], from: 'h' });
    await work(20);
    const inBetween = [...world.table.items.values()].map((item) => ({ ...item }));
    troubles.platform = NO_FAULTS.platform;
    await tell();
    const { platformId = '' } = (await state('g')) ?? {};
    world.platform.changeAsOther(platformId, { name: 'theirs' });
    await suspectChanged(world);
    await tell();
    expect(await state('g')).toMatchObject({ settled: 'in_sync' });
    const written = [...inBetween, ...world.table.items.values()];
    const { forms } = BEFORE;
    const unread = written.flatMap((item) => {
      const form = forms[kindOf(item)];
      const problem = form && z.fromJSONSchema(form).safeParse(item).error;
      return problem === undefined ? [] : [`${item.pk} ${item.sk}: ${z.prettifyError(problem)}`];
    });
    expect(unread).toEqual([]);
    const { 'G M': _, ...marked } = forms;
    expect(written.filter((item) => kindOf(item) in marked && item['schema'] !== 1)).toEqual([]);
    const isNowhere = (attribute: string) => !written.some((item) => attribute in item);
    expect(['doubt', 'contest', 'wakeAt', 'releasedIntent'].filter(isNowhere)).toEqual([]);
  });
});

describe('a view, which lies on its group’s item or, if large, in buckets', () => {
  it.each([
    ['authoritative', 'text', []],
    ['authoritative', 'head', ['d', 'e', 'f']],
    ['additive', 'chunks', ['d', 'e', 'f']],
  ] as const)(
    'is asked for at the platform by a release that looks for chunks, and nobody is lost or stays: %s, %s',
    async (membership, form, others) => {
      const told = await story({ settings: { membership } });
      const { world, troubles, hire, tell, say, work, shown, ref } = told;
      await hire('a', 'b', 'c', ...others);
      await tell({ snapshot: 'g', of: ['a', ...others] });
      troubles.platform = (call) =>
        call === 'patch' || shown('g')[0]?.includes('u-b') ? 'lost_after' : 'none';
      say({ add: ['b'], to: 'g' });
      await work(20);
      const { view, intent } = (await world.table.get(groupKey(ref('g')))) as Item;
      const known = JSON.stringify({ view, intent }).replaceAll(/,"(text":"[^"]*"|head":{[^}]*})/g, '');
      expect(JSON.stringify(view)).toContain(`"${form}":`);
      await world.table.update(groupKey(ref('g')), { set: JSON.parse(known) });
      expect(known).toContain('"action":"patch"');
      troubles.platform = NO_FAULTS.platform;
      await tell({ take: ['b'], from: 'g' }, { add: ['c'], to: 'g' });
      expect(shown('g')).toEqual([['u-a', 'u-c', ...others.map((id) => `u-${id}`)]]);
    },
  );
});

it('a group that a later release wrote is refused by name while the others go on, and stays marked as such', async () => {
  const { world, hire, tell, say, work, ref, shown } = await story();
  await hire('a', 'b');
  await tell({ snapshot: 'g', of: ['a'] }, { snapshot: 'h', of: ['a'] });
  await world.table.update(groupKey(ref('g')), { set: { schema: 2 } });
  say({ add: ['b'], to: 'g' }, { add: ['b'], to: 'h' });
  await work(40);
  expect([shown('g'), shown('h')]).toEqual([[['u-a']], [['u-a', 'u-b']]]);
  await expect(applyGroup(ref('g'), world.onlooker)).rejects.toThrow(
    'expected a group at partition G#default#g in schema 1, got schema 2: a newer release of groupsync wrote it',
  );
  const item = await world.table.get(groupKey(ref('g')));
  expect(item).toMatchObject({ schema: 2, group: groupId('g'), dirtySince: expect.any(Number) });
});
