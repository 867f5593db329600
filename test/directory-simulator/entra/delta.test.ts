import { describe, expect, it } from 'vitest';
import type { PartialSettings } from '../../../directory-simulator/engine/settings.ts';
import { DAY_MS, type Entra, type Item, idsOf, readAll, startEntra, WORLD } from './fixture.ts';

const MINIMAL = { prefer: 'return=minimal' };
const HARD: PartialSettings = {
  pageSizes: 'random',
  pageOrder: 'random',
  repeatedItems: 0.5,
  emptyPages: 0.3,
};
const SEEDS = ['1', '2', '3', '4', '5', '6'];

/** Reads the whole directory. Returns a function that reads the changes since the previous read. */
async function follow(entra: Entra, path: string) {
  let { deltaLink } = await readAll(entra, path);
  return async (headers: Record<string, string> = {}) => {
    const round = await readAll(entra, deltaLink, headers);
    deltaLink = round.deltaLink;
    return round.items;
  };
}

/** Applies entries to the members of each group, as the documents recommend. */
function applyEntries(state: Map<string, Set<string>>, items: readonly Item[]): void {
  for (const item of items) {
    const members = state.get(item.id) ?? new Set();
    for (const member of item['members@delta'] ?? []) {
      if (member['@removed'] === undefined) members.add(member.id);
      else members.delete(member.id);
    }
    if (item['@removed'] === undefined) state.set(item.id, members);
    else state.delete(item.id);
  }
}

describe('changes of groups', () => {
  it('the first round shows all groups with their members, and deleted members as removed', async () => {
    const { items } = await readAll(startEntra(), 'groups/delta?$select=displayName,members');
    expect(idsOf(items)).toEqual(['g-emea', 'g-hidden', 'g-none', 'g-rule', 'g-sales', 'g-team']);
    const sales = items.find(({ id }) => id === 'g-sales');
    expect(sales?.['members@delta']).toEqual(
      expect.arrayContaining([
        { '@odata.type': '#microsoft.graph.user', id: 'u-liz' },
        { '@odata.type': '#microsoft.graph.group', id: 'g-emea' },
        { '@odata.type': '#microsoft.graph.device', id: 'd-laptop' },
        { '@odata.type': '#microsoft.graph.servicePrincipal', id: 's-robot' },
        { '@odata.type': '#microsoft.graph.user', id: 'u-del', '@removed': { reason: 'deleted' } },
      ]),
    );
    expect(items.find(({ id }) => id === 'g-none')).toEqual({ id: 'g-none', displayName: 'Empty' });
  });

  it('a round without changes is empty, and ends with a link to the next round', async () => {
    const entra = startEntra();
    const { deltaLink } = await readAll(entra, 'groups/delta');
    entra.clock.ms += 1_000;
    const { json } = await entra.get(deltaLink);
    expect(json).toEqual({
      '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#groups',
      '@odata.deltaLink': expect.stringMatching(
        /^http:\/\/127\.0\.0\.1\/v1\.0\/groups\/delta\?\$deltatoken=\S+$/,
      ),
      value: [],
    });
  });

  it('a round shows the added and removed members of only the changed group', async () => {
    const entra = startEntra();
    const changes = await follow(entra, 'groups/delta?$select=displayName,members');
    await entra.change(
      { kind: 'addMember', group: 'g-none', member: 'u-ann' },
      { kind: 'removeMember', group: 'g-emea', member: 'u-ann' },
    );
    const user = { '@odata.type': '#microsoft.graph.user', id: 'u-ann' };
    expect(await changes()).toEqual([
      {
        id: 'g-emea',
        displayName: 'EMEA',
        'members@delta': [{ ...user, '@removed': { reason: 'deleted' } }],
      },
      { id: 'g-none', displayName: 'Empty', 'members@delta': [user] },
    ]);
    expect(await changes()).toEqual([]);
  });

  it('a round shows only the changed properties if the client prefers a minimal answer', async () => {
    const entra = startEntra();
    const changes = await follow(entra, 'groups/delta?$select=displayName,description,members');
    await entra.change({ kind: 'changeGroup', group: 'g-sales', description: 'Shops' });
    expect(await changes(MINIMAL)).toEqual([{ id: 'g-sales', description: 'Shops' }]);
    await entra.change({ kind: 'changeGroup', group: 'g-sales', description: '' });
    expect(await changes()).toEqual([{ id: 'g-sales', displayName: 'Sales', description: null }]);
  });

  it('a round does not show changes of properties that the client did not select', async () => {
    const entra = startEntra();
    const changes = await follow(entra, 'groups/delta?$select=displayName');
    await entra.change(
      { kind: 'changeGroup', group: 'g-sales', description: 'Shops' },
      { kind: 'addMember', group: 'g-none', member: 'u-ann' },
    );
    expect(await changes()).toEqual([]);
  });

  it('$deltatoken=latest shows no objects, and the next round shows only later changes', async () => {
    const entra = startEntra();
    const { items, deltaLink } = await readAll(entra, 'groups/delta?$deltatoken=latest&$select=members');
    expect(items).toEqual([]);
    await entra.change({ kind: 'addMember', group: 'g-none', member: 'u-ann' });
    expect(idsOf((await readAll(entra, deltaLink)).items)).toEqual(['g-none']);
  });

  it('a filter selects at most 50 groups by id', async () => {
    const entra = startEntra();
    const filter = "id eq 'g-none' or id eq 'g-team'";
    const changes = await follow(entra, `groups/delta?$select=displayName&$filter=${filter}`);
    await entra.change(
      { kind: 'changeGroup', group: 'g-none', name: 'None' },
      { kind: 'changeGroup', group: 'g-emea', name: 'Europe' },
    );
    expect(await changes()).toEqual([{ id: 'g-none', displayName: 'None' }]);
    const tooMany = Array.from({ length: 51 }, (_, index) => `id eq 'g${index}'`).join(' or ');
    expect((await entra.get(`groups/delta?$filter=${tooMany}`)).status).toBe(400);
    expect((await entra.get("groups/delta?$filter=displayName eq 'Sales'")).status).toBe(400);
  });

  it('a deleted security group is permanently deleted at once, and a Microsoft 365 group after 30 days', async () => {
    const entra = startEntra();
    const changes = await follow(entra, 'groups/delta?$select=displayName');
    await entra.change({ kind: 'deleteGroup', group: 'g-none' }, { kind: 'deleteGroup', group: 'g-team' });
    const removed = await changes();
    expect(removed).toEqual([
      { id: 'g-none', '@removed': { reason: 'deleted' } },
      { id: 'g-team', '@removed': { reason: 'changed' } },
    ]);
    await entra.control('settings', { deltaTokenLifetimeSeconds: 60 * 86_400 });
    entra.clock.ms += 31 * DAY_MS;
    entra.forgetToken();
    expect(await changes()).toEqual([{ id: 'g-team', '@removed': { reason: 'deleted' } }]);
  });

  it('a restored group is shown again with all its members', async () => {
    const entra = startEntra();
    const changes = await follow(entra, 'groups/delta?$select=members');
    await entra.change({ kind: 'deleteGroup', group: 'g-team' });
    await changes();
    await entra.change({ kind: 'undeleteGroup', group: 'g-team' });
    expect(await changes()).toEqual([
      { id: 'g-team', 'members@delta': [{ '@odata.type': '#microsoft.graph.user', id: 'u-ann' }] },
    ]);
  });

  it('a round shows the removal of a deleted member only if the settings report deletions', async () => {
    for (const [unreportedDeletions, shown] of [
      [0, ['g-emea', 'g-team']],
      [1, []],
    ] as const) {
      const entra = startEntra({ settings: { unreportedDeletions } });
      const changes = await follow(entra, 'groups/delta?$select=members');
      await entra.change({ kind: 'deleteUser', user: 'u-ann' });
      expect(idsOf(await changes())).toEqual(shown);
    }
  });

  it('changes of the members of a dynamic group appear later than other changes', async () => {
    const entra = startEntra({ settings: { lagSeconds: { dynamicMembers: 3_600 } } });
    const changes = await follow(entra, 'groups/delta?$select=members');
    await entra.change({ kind: 'addMember', group: 'g-rule', member: 'u-ann' });
    expect(await changes()).toEqual([]);
    entra.clock.ms += 3_500_000;
    expect(idsOf(await changes())).toEqual(['g-rule']);
  });

  it('two groups can contain each other', async () => {
    const entra = startEntra();
    const { status } = await entra.change({ kind: 'addMember', group: 'g-emea', member: 'g-sales' });
    expect(status).toBe(200);
    const { items } = await readAll(entra, 'groups/g-emea/members/microsoft.graph.group');
    expect(idsOf(items)).toEqual(['g-sales']);
  });
});

describe('changes of users', () => {
  it('the first round shows all users, and shows deleted and purged users as removed', async () => {
    const { items } = await readAll(startEntra(), 'users/delta?$select=userPrincipalName');
    expect(items.find(({ id }) => id === 'u-liz')).toEqual({
      id: 'u-liz',
      userPrincipalName: 'liz@contoso.example',
    });
    expect(items.filter((item) => item['@removed'] !== undefined)).toEqual([
      { id: 'u-del', '@removed': { reason: 'changed' } },
      { id: 'u-old', '@removed': { reason: 'deleted' } },
    ]);
  });

  it('a deleted user is shown as removed twice: after the deletion and after the purge', async () => {
    const entra = startEntra();
    const changes = await follow(entra, 'users/delta');
    await entra.change({ kind: 'deleteUser', user: 'u-ann' });
    expect(await changes()).toEqual([{ id: 'u-ann', '@removed': { reason: 'changed' } }]);
    await entra.change({ kind: 'purgeUser', user: 'u-ann' });
    expect(await changes()).toEqual([{ id: 'u-ann', '@removed': { reason: 'deleted' } }]);
  });

  it('a round shows users who are new, restored, disabled or enabled', async () => {
    const entra = startEntra();
    const changes = await follow(entra, 'users/delta?$select=accountEnabled');
    await entra.change(
      { kind: 'addUser', user: { id: 'u-new', primaryEmail: 'new@contoso.example' } },
      { kind: 'undeleteUser', user: 'u-del' },
      { kind: 'suspendUser', user: 'u-ann' },
      { kind: 'unsuspendUser', user: 'u-sue' },
    );
    expect(await changes()).toEqual([
      { id: 'u-ann', accountEnabled: false },
      { id: 'u-del', accountEnabled: true },
      { id: 'u-new', accountEnabled: true },
      { id: 'u-sue', accountEnabled: true },
    ]);
  });
});

describe('rounds of changes with lag, repetitions and small pages', () => {
  const people = Array.from({ length: 300 }, (_, index) => ({
    id: `p${String(index).padStart(3, '0')}`,
    primaryEmail: `p${index}@contoso.example`,
  }));
  const world = {
    ...WORLD,
    users: people,
    groups: [
      { id: 'g', email: 'g@contoso.example', members: people.map(({ id }) => ({ member: id })) },
      { id: 'h', email: 'h@contoso.example' },
    ],
  };

  it('a large group has entries on several pages, and an empty page can have a link to a next page', async () => {
    const entra = startEntra({ world, settings: HARD });
    const rounds = await Promise.all(SEEDS.map(() => readAll(entra, 'groups/delta?$select=members')));
    expect(rounds.every(({ items }) => items.filter(({ id }) => id === 'g').length > 1)).toBe(true);
    expect(rounds.some(({ pages }) => pages.slice(0, -1).includes(0))).toBe(true);
  });

  it.each(SEEDS)(
    'a client that applies all entries gets the same members as the directory (seed %s)',
    async (seed) => {
      const settings = { ...HARD, lagSeconds: { delta: 300 }, repeatedChanges: 0.5 };
      const entra = startEntra({ world, seed, settings });
      const state = new Map<string, Set<string>>();
      let link = 'groups/delta?$select=members';
      const read = async () => {
        const round = await readAll(entra, link);
        link = round.deltaLink;
        applyEntries(state, round.items);
      };
      await read();
      for (let round = 0; round < 12; round += 1) {
        const member = people[(round * 7) % people.length]?.id ?? '';
        await entra.change(
          { kind: 'removeMember', group: 'g', member },
          { kind: 'addMember', group: 'h', member },
        );
        entra.clock.ms += 60_000;
        await read();
      }
      entra.clock.ms += 300_001;
      await read();
      const { json } = await entra.send('GET /_simulator/state');
      for (const { id, members } of json.groups)
        expect([...(state.get(id) ?? [])].toSorted()).toEqual(idsOf(members));
    },
  );

  it('a change can appear in several rounds', async () => {
    const entra = startEntra({ settings: { repeatedChanges: 1, lagSeconds: { delta: 300 } } });
    entra.clock.ms += DAY_MS;
    entra.forgetToken();
    const changes = await follow(entra, 'groups/delta?$select=members');
    await entra.change({ kind: 'addMember', group: 'g-none', member: 'u-ann' });
    const rounds: string[][] = [];
    for (let round = 0; round < 10; round += 1) {
      rounds.push(idsOf(await changes()));
      entra.clock.ms += 60_000;
    }
    expect(rounds.filter((ids) => ids.includes('g-none')).length).toBeGreaterThan(1);
  });
});
