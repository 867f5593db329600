import fc from 'fast-check';
import { expect } from 'vitest';
import { platformGroupId } from '../../shared/domain/ids.ts';
import { blockPerson, unblockPerson } from '../../shared/operate/block.ts';
import { approveHold } from '../../shared/operate/holds.ts';
import { NotFound, Refused } from '../../shared/operate/names.ts';
import { adoptGroup, releaseGroup } from '../../shared/operate/ownership.ts';
import { pauseGroup, resumeConnection, resumeGroup } from '../../shared/operate/pausing.ts';
import { sweep } from '../../shared/sync/reconcile/sweep.ts';
import { always } from '../support/engine/runs.ts';
import { calledBy, createTestEngine, type DirectoryEvent } from '../support/engine/test-engine.ts';
import { CONNECTION, HOUR_MS } from '../support/engine/world.ts';
import { backupOf } from '../support/restore.ts';

const MEMBERS = ['a', 'b', 'c', 'd'];
const GROUPS = ['g', 'h'];
const VERBS = ['pause', 'resume', 'release', 'adopt', 'approve', 'edit', 'delete'] as const;

type Step =
  | { readonly event: DirectoryEvent }
  | { readonly verb: (typeof VERBS)[number]; readonly group: string }
  | { readonly person: 'block' | 'unblock'; readonly of: string };

const member = fc.constantFrom(...MEMBERS);
const group = fc.constantFrom(...GROUPS);
const members = fc.uniqueArray(member, { maxLength: 4 });
const event: fc.Arbitrary<DirectoryEvent> = fc.oneof(
  fc.record({ add: fc.tuple(member), to: group }),
  fc.record({ take: fc.tuple(member), from: group }),
  fc.record({ snapshot: group, of: members }),
  fc.record({ upsert: group, name: fc.constantFrom('One', 'Two') }),
  fc.record({ remove: group }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ event }) },
  fc.record({ verb: fc.constantFrom(...VERBS), group }),
  fc.record({ person: fc.constantFrom('block' as const, 'unblock' as const), of: member }),
);
/** Events that do not restate a group. */
const small = fc.oneof(
  fc.record({ add: fc.tuple(member), to: group }),
  fc.record({ take: fc.tuple(member), from: group }),
);
const steps = fc.array(step, { maxLength: 6 });
const run = fc.record({
  before: steps,
  lost: steps,
  after: fc.array(small, { maxLength: 4 }),
  ends: fc.tuple(members, members),
  mode: fc.constantFrom('authoritative' as const, 'additive' as const),
});

type Engine = Awaited<ReturnType<typeof createTestEngine>>;
const GUARD = { minSize: 3, maxRemovedShare: 0.4, deletedGroups: 0, deletedGroupsShare: 0 };

/** Performs a step, and lets the engine work for an hour. A command that is refused changes nothing. */
async function perform(one: Step, { world, ref, member: idOf, pass, emit }: Engine) {
  const ports = { ...world.toolPorts, ...calledBy('ann') };
  const of = (name: string) => [...world.platform.groups.values()].find(({ spokeId }) => spokeId === name);
  const commands = {
    pause: (name: string) => pauseGroup(ref(name), ports),
    resume: (name: string) => resumeGroup(ref(name), ports),
    release: (name: string) => releaseGroup(ref(name), ports),
    adopt: (name: string) => adoptGroup(ref(name), platformGroupId(of(name)?.id ?? 'none'), ports),
    approve: (name: string) => approveHold(ref(name), { reason: 'r' }, ports),
    async edit(name: string) {
      const { id, users } = of(name) ?? { users: [] };
      if (id !== undefined) world.platform.changeAsOther(id, { users: [...users, 'u-x'] });
    },
    async delete(name: string) {
      const { id } = of(name) ?? {};
      if (id !== undefined) world.platform.deleteAsOther(id);
    },
  };
  const persons = {
    block: (text: string) => blockPerson(CONNECTION, { text, reason: 'r' }, ports),
    unblock: (text: string) => unblockPerson(CONNECTION, { text, reason: 'r' }, ports),
  };
  if ('event' in one) emit(one.event);
  else {
    const done = 'verb' in one ? commands[one.verb](one.group) : persons[one.person](idOf(one.of));
    await done.catch((error: unknown) => {
      if (!(error instanceof Refused || error instanceof NotFound)) throw error;
    });
  }
  await sweep(await world.connection(), world.toolPorts);
  await pass(HOUR_MS);
}

/** Returns the lost decisions that still count, which the operator repeats after the restore. */
function lostDecisions(lost: readonly Step[]): readonly Step[] {
  const isOwnership = (one: Step) => 'verb' in one && /^(?:release|adopt)$/.test(one.verb);
  return [
    ...GROUPS.map((name) => lost.findLast((one) => isOwnership(one) && 'verb' in one && one.group === name)),
    ...MEMBERS.map((name) => lost.findLast((one) => 'person' in one && one.of === name)),
  ].filter((one) => one !== undefined);
}

always(
  'after a restore of the table, no member is added until the source has sent the group, and then the group is as wanted',
  fc.asyncProperty(run, async ({ before, lost, after, ends, mode }) => {
    const engine = await createTestEngine({ settings: { mode, guard: GUARD } });
    const { world, deliver, pass, state } = engine;
    await engine.hire(...MEMBERS);
    await deliver({ snapshot: 'g', of: ['a', 'b', 'c'] }, { snapshot: 'h', of: ['a', 'd'] });
    for (const one of before) await perform(one, engine);
    const restore = backupOf(world.table, world.nowMs);
    for (const one of lost) await perform(one, engine);
    world.advance(HOUR_MS);
    restore();
    const then = new Map([...world.platform.groups].map(([id, { users }]) => [id, new Set(users)]));
    for (const one of lostDecisions(lost)) await perform(one, engine);
    await resumeConnection(CONNECTION, { ...world.toolPorts, ...calledBy('ann') });
    for (const event of after) await perform({ event }, engine);
    for (const [id, { users }] of world.platform.groups)
      expect(users.filter((user) => then.get(id)?.has(user) !== true)).toEqual([]);
    for (const [at, name] of GROUPS.entries())
      await perform({ event: { snapshot: name, of: ends[at] ?? [] } }, engine);
    for (let round = 0; round < 4; round += 1) {
      for (const name of GROUPS)
        for (const verb of ['resume', 'approve'] as const) await perform({ verb, group: name }, engine);
    }
    await pass(25 * HOUR_MS);
    const { blocks = [] } = await world.connection();
    const isBlocked = (name: string) =>
      blocks.some(({ members: some }) => some.includes(engine.member(name)));
    for (const [at, name] of GROUPS.entries()) {
      if ((await state(name))?.released) continue;
      const wanted = (ends[at] ?? []).filter((one) => !isBlocked(one)).map((one) => `u-${one}`);
      const shown = engine.shown(name).map((users) => users.filter((user) => user !== 'u-x'));
      // In the mode additive, members of the lost time may count as those of another client.
      const stays = mode === 'additive' ? (shown[0] ?? []) : [];
      expect(shown).toEqual([[...new Set([...wanted, ...stays])].sort()]);
    }
  }),
  200,
);
