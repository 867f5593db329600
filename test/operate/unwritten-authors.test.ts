import { describe, expect, it } from 'vitest';
import type { Mode } from '../../shared/contract/settings.ts';
import { decideRequests } from '../../shared/operate/decisions.ts';
import { approveHold, rejectHold } from '../../shared/operate/holds.ts';
import { resumeConnection } from '../../shared/operate/pausing.ts';
import { endRestore } from '../../shared/operate/restated.ts';
import { rowsOf } from '../../shared/operate/setting-requests.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { clientNextTo } from '../directory/reading/scim-client.ts';
import type { Client } from '../scim/server/support/server.ts';
import { suspectChanged } from '../support/engine/look-over.ts';
import { calledBy, createTestEngine } from '../support/engine/test-engine.ts';
import { CONNECTION, DAY_MS, HOUR_MS } from '../support/engine/world.ts';
import { directory, openWith, resume, scimOf, takeOver } from '../support/operate/takeovers.ts';
import { backupOf } from '../support/restore.ts';
import { add, remove } from '../support/scim-operations.ts';

const HOLDS_ALL = {
  minSize: 1,
  maxRemovedCount: 0,
  maxRemovedShare: 1,
  deletedGroups: 0,
  deletedGroupsShare: 0,
};
const WORD = { reason: 'seen' };

/** The group g with the members a and b under four eyes, and functions for operators with different names. */
async function company(mode: Mode) {
  const engine = await createTestEngine({ settings: { fourEyes: true, mode, guard: HOLDS_ALL } });
  const { world, deliver, ref } = engine;
  const as = (by: string) => ({ ...world.toolPorts, vault: {} as never, ...calledBy(by) }) as never;
  await engine.hire('a', 'b');
  await deliver({ snapshot: 'g', of: ['a', 'b'] });
  return {
    ...engine,
    as,
    approve: (by: string) => approveHold(ref('g'), WORD, as(by)),
    async set(by: string, key: string, value: unknown) {
      await changeSettings(await planSettings(CONNECTION, [{ key, value }], as(by)), as(by));
      world.advance(HOUR_MS);
      await deliver();
    },
  };
}

describe('four eyes: the author of removals may not approve them, also', () => {
  it('after the group waited 20 days for its source, because the table was restored', async () => {
    const { world, as, set, approve, pass, deliver, state } = await company('additive');
    const users = ['u-a', 'u-b', 'u-x'];
    world.platform.changeAsOther((await state('g'))?.link?.id ?? '', { users });
    await suspectChanged(world);
    await deliver();
    const restore = backupOf(world.table, world.nowMs);
    world.advance(HOUR_MS);
    restore();
    await resumeConnection(CONNECTION, as('carl'));
    await sweep(await world.connection(), world.toolPorts);
    await pass(HOUR_MS);
    await set('ann', 'mode', 'authoritative');
    expect((await state('g'))?.settled).toBe('unrestated');
    world.advance(20 * DAY_MS);
    await endRestore(await world.connection(), as('bob'));
    world.advance(HOUR_MS);
    await requeueDue(CONNECTION, world.toolPorts);
    await deliver();
    expect((await state('g'))?.hold).toMatchObject({ rule: 'mode', removes: 1 });
    await expect(approve('ann')).rejects.toThrow('other than');
    expect(await approve('dee')).toMatchObject({ kind: 'decided' });
  });

  it('after the deletion of the group was rejected for 20 days', async () => {
    const { world, as, set, approve, deliver, state, ref } = await company('authoritative');
    await deliver({ remove: 'g' });
    await rejectHold(ref('g'), WORD, as('bob'));
    await deliver();
    await set('ann', 'people.exclude', ['type=guest']);
    await deliver({ user: 'b', email: 'b@acme.test', type: 'guest' });
    world.advance(20 * DAY_MS);
    await deliver({ snapshot: 'g', of: ['a', 'b'] });
    expect((await state('g'))?.hold).toMatchObject({ rule: 'count', removes: 1 });
    await expect(approve('ann')).rejects.toThrow('other than');
    expect(await approve('dee')).toMatchObject({ kind: 'decided' });
  });

  it('after a taken over group waited 20 days for its name', async () => {
    const reader = await openWith({ rowing: ['a', 'b'] }, { directory, guard: HOLDS_ALL, fourEyes: true });
    const { world, ref, state, pass } = reader;
    const as = (by: string) => ({ ...world.toolPorts, ...calledBy(by) });
    await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
    await takeOver(reader, 'directory', { ports: as('ann') });
    await resume(reader);
    expect((await state('rowing'))?.settled).toBe('unnamed');
    world.advance(20 * DAY_MS);
    await pass(HOUR_MS);
    await reader.passMinutes(30);
    expect((await state('rowing'))?.hold).toMatchObject({ removes: 1 });
    await expect(approveHold(ref('rowing'), WORD, as('ann') as never)).rejects.toThrow('other than');
  });

  it.each<[string, unknown, unknown]>([
    ['mode', 'report', 'authoritative'],
    ['groups.exclude', ['Group g'], []],
  ])(
    'after the hold expired during the setting %s=%j, and four eyes was switched off',
    async (key, value, before) => {
      const { world, as, set, approve, deliverAs, deliver, state } = await company('authoritative');
      await deliverAs('ann', { take: ['b'], from: 'g' });
      expect((await state('g'))?.hold).toMatchObject({ fourEyes: true });
      await set('ann', 'fourEyes', false);
      const shown = rowsOf(await world.connection());
      await decideRequests(CONNECTION, { isConfirmed: true, shown }, as('bob'));
      await set('ann', key, value);
      world.advance(8 * DAY_MS);
      await deliver({ upsert: 'g' });
      await set('ann', key, before);
      expect((await state('g'))?.hold).toMatchObject({ removes: 1, fourEyes: true });
      await expect(approve('ann')).rejects.toThrow('other than ann');
    },
  );
});

type Removal = (client: Client, ids: { outer: string; inner: string }) => Promise<unknown>;

describe('four eyes: the creator of a SCIM token may not approve removals by a client that', () => {
  it.each<[string, Removal]>([
    [
      'takes a group out of the group',
      (client, { outer, inner }) =>
        client.patch(`/Groups/${outer}`, [remove(`members[value eq "${inner}"]`)]),
    ],
    [
      'sends the whole list of a group that contains groups',
      (client, { outer }) => client.put(`/Groups/${outer}`, { displayName: 'Outer', members: [] }),
    ],
    ['deletes a group within the group', (client, { inner }) => client.delete(`/Groups/${inner}`)],
    [
      'sends the whole list of a group within the group',
      (client, { inner }) => client.put(`/Groups/${inner}`, { displayName: 'Inner', members: [] }),
    ],
  ])('%s', async (_, removes) => {
    const reader = await openWith({}, { nested: 'flatten', fourEyes: true, guard: HOLDS_ALL });
    const { world, ref, state, pass } = reader;
    const scim = await scimOf(reader);
    const inner = await scim.group('Inner', ['a', 'b']);
    const outer = await scim.group('Outer', ['c']);
    await scim.patch(`/Groups/${outer}`, [add('members', [{ value: inner }])]);
    await pass(HOUR_MS);
    await removes(await clientNextTo(reader, 'ann'), { outer, inner });
    await pass(HOUR_MS);
    expect((await state(outer))?.hold?.removes).toBeGreaterThan(1);
    const approve = (by: string) =>
      approveHold(ref(outer), WORD, { ...world.toolPorts, ...calledBy(by) } as never);
    await expect(approve('ann')).rejects.toThrow('other than ann');
    expect(await approve('dee')).toMatchObject({ kind: 'decided' });
  });
});
