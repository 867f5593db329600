import { describe, expect, it } from 'vitest';
import { ACTIVE_ATTRIBUTE } from '../../../shared/domain/active.ts';
import { memberId } from '../../../shared/domain/ids.ts';
import { makeStamp, STAMP_ZERO } from '../../../shared/domain/stamp.ts';
import { explainMember } from '../../../shared/sync/tool/explain.ts';
import { story } from '../../support/engine/story.ts';
import { CONNECTION } from '../../support/engine/world.ts';

async function company() {
  const told = await story();
  await told.hire('ann', 'bob');
  const { world, tell } = told;
  return {
    ...told,
    /** As the SCIM server says it: the account is switched on or off, and the walk reaches the groups. */
    async switchAccount(member: string, active: 'true' | 'false') {
      const stamp = makeStamp({ time: new Date(world.nowMs()).toISOString(), id: active, source: 'scim' });
      const attributes = new Map([[ACTIVE_ATTRIBUTE, { value: active, stamp }]]);
      const change = { user: memberId(member), attributes, deleted: STAMP_ZERO };
      await world.onlooker.users.join(CONNECTION, [change], new Set([ACTIVE_ATTRIBUTE]));
      world.advance(60_000);
      await tell();
    },
    async explain(member: string) {
      const connection = await world.onlooker.connections.find(CONNECTION);
      if (connection === undefined) throw new Error('the world has a connection');
      return explainMember(told.ref('g'), member, { connection, ports: world.onlooker });
    },
  };
}

describe('explain', () => {
  it('agrees with apply about an account that is switched off, and on again', async () => {
    const { tell, shown, switchAccount, explain } = await company();
    await tell({ snapshot: 'g', of: ['ann', 'bob'] });
    expect(await explain('ann')).toMatchObject({ wanted: true, decision: { outcome: 'in_sync' } });
    await switchAccount('ann', 'false');
    expect(shown('g')).toEqual([['u-bob']]);
    expect(await explain('ann')).toMatchObject({
      wanted: false,
      present: false,
      decision: { outcome: 'not_wanted', detail: expect.stringContaining('switched their account off') },
    });
    await switchAccount('ann', 'true');
    expect(shown('g')).toEqual([['u-ann', 'u-bob']]);
    expect(await explain('ann')).toMatchObject({ wanted: true, decision: { outcome: 'in_sync' } });
  });

  it('says of a deletion of the user, a removal and a snapshot that it was that', async () => {
    const { tell, explain } = await company();
    await tell({ snapshot: 'g', of: ['ann', 'bob', 'cid', 'dan'] });
    await tell({ forget: 'ann' }, { take: ['bob'], from: 'g' }, { snapshot: 'g', of: ['dan'] });
    expect((await explain('ann')).because).toBe('the directory deleted this user');
    expect((await explain('bob')).because).toBe('the directory took them out of the group');
    expect((await explain('cid')).because).toContain('a later snapshot');
    expect(await explain('dan')).toMatchObject({ decision: { outcome: 'pending:unknown' } });
  });

  it('tells a group that never had a name from one that lost it', async () => {
    const { tell, explain } = await company();
    await tell({ snapshot: 'g', of: ['ann'], name: null });
    expect((await explain('ann')).because).toContain('no event has named the group yet');
    await tell({ remove: 'g' }, { snapshot: 'g', of: ['ann'], name: null });
    expect(await explain('ann')).toMatchObject({
      decision: { outcome: 'unnamed', detail: expect.stringContaining('deleted the group') },
    });
  });
});
