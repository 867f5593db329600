import { expect, it } from 'vitest';
import { releaseGroup } from '../../shared/operate/ownership.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { dirtyNow } from '../../shared/sync/wake.ts';
import { seededRandom } from '../../simulate/random.ts';
import { Scheduler } from '../support/engine/scheduler.ts';
import { createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';
import { HOUR_MS } from '../support/engine/world.ts';

it.each<[string, DirectoryEvent, number | undefined]>([
  ['release', { upsert: 'g' }, undefined],
  ['hold', { snapshot: 'g', of: ['a'] }, undefined],
  ['refused', { take: ['b'], from: 'g' }, 422],
])(
  'if three workers record the same change (%s), the item or a later entry names each entry',
  async (kind, event, answer) => {
    for (let seed = 1; seed <= 6; seed += 1) {
      const { world, deliver, ref, hire } = await createTestEngine({ settings: { guard: {} } });
      const everybody = ['a', 'b', 'c', 'd', 'e', 'f'];
      await hire(...everybody);
      await deliver({ snapshot: 'g', of: everybody });
      await world.toolPorts.groups.pause(ref('g'), 1);
      await deliver(event);
      world.advance(HOUR_MS);
      await world.toolPorts.groups.resume(ref('g'), { ...dirtyNow(world.toolPorts), pausedAtMs: 1 });
      if (kind === 'release') await releaseGroup(ref('g'), world.toolPorts);
      world.platform.failing = (call) => (call === 'patch' ? answer : undefined);
      const scheduler = new Scheduler({ random: seededRandom(seed), onEffect: () => world.advance(1) });
      const worker = (name: string) => world.portsFor(scheduler.worker(name));
      await scheduler.run(['1', '2', '3'].map((name) => () => applyGroup(ref('g'), worker(name))));
      const { entries, named, broken } = await verifyAudit(ref('g'), world.toolPorts);
      expect([named, broken]).toEqual([entries, null]);
    }
  },
);
