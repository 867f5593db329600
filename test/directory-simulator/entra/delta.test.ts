import { describe, expect, it } from 'vitest';
import type { PartialSettings } from '../../../directory-simulator/engine/settings.ts';
import { DAY_MS, type Entra, idsOf, readAll, startEntra, WORLD } from './fixture.ts';

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
});
