import { describe, expect, it } from 'vitest';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import { CONNECTION, START_MS } from '../support/engine/world.ts';
import { joins, leaves, REF, records, settled, shown, tell, USERS } from './reconcile/support/drift.ts';

/** The calls of the platform that one apply makes, once the directory has added somebody. */
async function applied(patchHonoursVersion: boolean | undefined, isCompared = false) {
  const { world, id } = await settled({ drift: 'adopt' }, { enforceVersionOnPatch: isCompared });
  const report = { baseUrl: 'https://platform.test', company: 'company', atMs: START_MS, findings: [] };
  if (patchHonoursVersion !== undefined)
    await world.onlooker.connections.keepContract(CONNECTION, { ...report, patchHonoursVersion });
  const calls: string[] = [];
  const effect = async (kind: string) => {
    if (/^platform\.(?!me)/.test(kind)) calls.push(kind.slice('platform.'.length));
  };
  const worker = world.portsFor({ effect });
  const add = async () => {
    await tell(world, joins('late'));
    return applyGroup(REF, worker);
  };
  return { world, id, calls, add, users: () => shown(world, id)?.users };
}

describe('where the probe found that PATCH ignores the version', () => {
  it('a look precedes the write, and nobody unseen is taken away', async () => {
    const { world, id, calls, add, users } = await applied(false);
    world.platform.changeAsOther(id, { users: [...USERS, 'u-guest'] });
    await add();
    expect(users()).toEqual([...USERS, 'u-guest', 'u-late'].sort());
    expect(calls).toEqual(['get', 'get', 'put']);
    const [drift] = await records(world);
    expect(drift).toMatchObject({ kind: 'members_added', after: ['u-guest'], settledBy: 'adopt' });
  });

  it('one look does where nobody else was there, and none where nothing is to be written', async () => {
    const { world, calls, add, users } = await applied(false);
    await add();
    expect(calls).toEqual(['get', 'patch']);
    expect(users()).toEqual([...USERS, 'u-late'].sort());
    await world.onlooker.desired.markDirty(REF, dirtyNow(world.onlooker));
    await add();
    expect(calls).toEqual(['get', 'patch']);
  });
});

describe('where the probe found that PATCH honours the version, or was never run', () => {
  it.each([true, undefined])(
    'no look precedes the write: the platform refuses a stale one (%s)',
    async (found) => {
      const { world, id, calls, add, users } = await applied(found, true);
      await add();
      expect(calls).toEqual(['patch']);
      world.advance(60_000);
      world.platform.changeAsOther(id, { users: ['u-guest', ...(users() ?? [])] });
      await tell(world, leaves('late', 2));
      await applyGroup(REF, world.onlooker);
      expect(users()).toEqual([...USERS, 'u-guest'].sort());
    },
  );
});
