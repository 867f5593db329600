import { expect, it } from 'vitest';
import { takeOverGroups } from '../../shared/directory/operate/takeover.ts';
import { approveHold, listHolds, rejectHold } from '../../shared/operate/holds.ts';
import { pauseConnection, resumeConnection } from '../../shared/operate/pausing.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { platformGroupsOf } from '../directory/reading/fixture.ts';
import { calledBy } from '../support/engine/test-engine.ts';
import { CONNECTION, DAY_MS, MINUTE_MS } from '../support/engine/world.ts';
import { openWith, plan, scimOf } from '../support/operate/takeovers.ts';

const HOLDS_ALL = { minSize: 1, maxRemovedCount: 0, maxRemovedShare: 1 };

/** A group of the events, and the actions of persons. */
async function open(settings: Readonly<Record<string, unknown>>) {
  const reader = await openWith({}, settings);
  const { world } = reader;
  const as = (by: string) => ({ ...world.toolPorts, vault: {} as never, ...calledBy(by) }) as never;
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  return {
    ...reader,
    as,
    scim: await scimOf(reader),
    set: async (by: string, key: string, value: unknown) =>
      changeSettings(await planSettings(CONNECTION, [{ key, value }], as(by)), as(by)),
    users: () => platformGroupsOf(reader)[0]?.users,
    kinds: async () =>
      (await listHolds(CONNECTION, world.toolPorts)).map(({ group, hold }) => [group, hold.decision.kind]),
  };
}

it.each([false, true])(
  'the author of a change of mode before a pause of 20 days may not approve its removals; moved meanwhile: %s',
  async (isMoved) => {
    const company = await open({ fourEyes: true, mode: 'additive', guard: {} });
    const { world, as, set, pass, kinds, ref } = company;
    world.platform.changeAsOther(platformGroupsOf(company)[0]?.id ?? '', {
      users: ['u-a', 'u-b', 'u-c', 'u-d'],
    });
    await pauseConnection(CONNECTION, undefined, as('zed'));
    await set('ann', 'mode', 'authoritative');
    await pass(10 * MINUTE_MS);
    world.advance(20 * DAY_MS);
    let owner = 'okta-1';
    if (isMoved) {
      owner = await company.scim.group('Group rowing', ['a', 'b', 'c']);
      await takeOverGroups(await world.connection(), await plan(company, 'scim'), as('carl'));
      await requeueDue(CONNECTION, world.toolPorts);
    }
    await resumeConnection(CONNECTION, as('carl'));
    await pass(60 * MINUTE_MS);
    expect(await kinds()).toEqual([[owner, 'waiting']]);
    await expect(approveHold(ref(owner), { reason: 'ok' }, as('ann'))).rejects.toThrow('other than');
  },
);

it('a takeover with pairs of groups can be repeated', async () => {
  const company = await open({});
  const { world, scim, as, pass } = company;
  await pauseConnection(CONNECTION, undefined, as('zed'));
  const file = new Map([['okta-1', await scim.group('Rowers', ['a', 'b', 'c'])]]);
  await pass(10 * MINUTE_MS);
  const again = () => plan(company, 'scim', false, file);
  await takeOverGroups(await world.connection(), await again(), as('zed'));
  expect(await again()).toMatchObject({ groups: [] });
});

it('an excluded person whose removal was rejected stays after a repeated snapshot', async () => {
  const { world, set, pass, kinds, ref, deliver, users } = await open({ guard: HOLDS_ALL });
  await set('ann', 'people.exclude', ['email=b@acme.test']);
  await pass(20 * MINUTE_MS);
  expect(await kinds()).toEqual([['okta-1', 'waiting']]);
  await rejectHold(ref('okta-1'), { reason: 'stays' }, world.toolPorts);
  await set('ann', 'guard', { minSize: 10, maxRemovedCount: 50, maxRemovedShare: 0.5 });
  await deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  await pass(60 * MINUTE_MS);
  expect(users()).toEqual(['u-a', 'u-b', 'u-c']);
});
