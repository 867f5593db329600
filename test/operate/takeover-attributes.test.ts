import { expect, it } from 'vitest';
import { platformAttributes } from '../../shared/domain/group-state.ts';
import { listHolds, rejectHold } from '../../shared/operate/holds.ts';
import { createNamesake } from '../../shared/operate/ownership.ts';
import { pauseGroup, resumeConnection } from '../../shared/operate/pausing.ts';
import { readGroupStatus } from '../../shared/operate/status.ts';
import { groupKey } from '../../shared/store/keys.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { followFeed } from '../../shared/sync/reconcile/feed.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { collectPages } from '../../shared/sync/tuning.ts';
import { platformGroupsOf } from '../directory/reading/fixture.ts';
import type { CallFault } from '../support/engine/platform.ts';
import type { DirectoryEvent } from '../support/engine/test-engine.ts';
import { CONNECTION, CREATE_SETTLE_MS, MINUTE_MS, takeEvents } from '../support/engine/world.ts';
import { openWith, scimOf, takeOver } from '../support/operate/takeovers.ts';
import { replace } from '../support/scim-operations.ts';

/** Creates the group "Group rowing" of a, b and c from events, and the same group of a SCIM client, which waits. */
async function openGame({ guard = null, foreign = false }: Pick<Scenario, 'guard' | 'foreign'>) {
  const reader = await openWith({}, { guard });
  const { world, ref } = reader;
  const { toolPorts, platform } = world;
  if (foreign) platform.addForeign({ name: 'Group rowing', spokeId: '', users: [] });
  const connection = await world.connection();
  const scim = await scimOf(reader);
  await reader.deliver({ snapshot: 'chess', of: ['a'] });
  await reader.deliver({ snapshot: 'okta-1', name: 'Group rowing', of: ['a', 'b', 'c'] });
  const next = await scim.group('Group rowing', ['a', 'b', 'c']);
  await reader.pass(CREATE_SETTLE_MS);
  const feed = () => followFeed(connection, toolPorts as never, Number.POSITIVE_INFINITY);
  await feed();
  const groups = () => platformGroupsOf(reader).filter(({ spokeId }) => spokeId !== 'chess');
  const id = groups()[0]?.id ?? '';
  return {
    ...{ ...reader, platform, toolPorts, old: ref('okta-1'), scim, next, feed, groups, id },
    status: () => readGroupStatus(ref(next), toolPorts),
    drift: () => collectPages(toolPorts.drift.list(CONNECTION)),
    rename: (name: string) => platform.changeAsOther(id, { name }),
    fails(fault: CallFault, ...calls: readonly string[]) {
      reader.troubles.platform = (call) => (calls.includes(call) ? fault : 'none');
    },
    /** Runs one worker for a group after these events, without messages. */
    async apply(group: string, ...events: readonly DirectoryEvent[]) {
      reader.emit(...events);
      await ingest(takeEvents(world), toolPorts);
      await applyGroup(ref(group), world.portsFor({})).catch(() => {});
    },
  };
}

type Game = Awaited<ReturnType<typeof openGame>>;

interface Scenario {
  readonly guard?: object | null;
  /** Whether another client has a platform group with the same name. */
  readonly foreign?: boolean;
  /** Runs before the takeover, and sets the attribute. */
  readonly before: (game: Game) => unknown;
  /** Runs after the connection was resumed. @returns what users see, which depends on the attribute */
  readonly after: (game: Game) => Promise<unknown>;
  readonly result: unknown;
}

async function healed({ fails, pass, platform }: Game, minutes = 120) {
  fails('none');
  platform.hidden = () => false;
  await pass(minutes * MINUTE_MS);
}

const driftAfter = async (game: Game) => {
  await healed(game);
  return (await game.drift()).map(({ initiator, settledBy }) => [initiator, settledBy]);
};

const linkAfter = async (game: Game) => {
  await healed(game);
  return (await game.status())?.link?.platformId === game.id;
};

async function losesAnswer({ apply, fails, scim, next }: Game) {
  await scim.join(next, 'd');
  fails('lost_after', 'patch', 'put');
  await apply('okta-1', { add: ['d'], to: 'okta-1' });
}

async function drifts({ rename, apply }: Game) {
  rename('Theirs');
  await apply('okta-1', { take: ['c'], from: 'okta-1' });
}

async function disappears({ platform, apply, id }: Game) {
  platform.hidden = (one) => one === id;
  await apply('okta-1', { add: ['d'], to: 'okta-1' });
}

const LONG = 'x'.repeat(120);

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  link: { before: () => {}, after: linkAfter, result: true },
  intent: { before: losesAnswer, after: driftAfter, result: [] },
  releasedIntent: {
    before: losesAnswer,
    async after({ fails, apply, next, status }) {
      fails('none');
      await apply(next);
      return (await status())?.link?.openWrite;
    },
    result: null,
  },
  removals: {
    guard: { minSize: 1, maxRemovedCount: 1 },
    async before({ emit, pass, toolPorts, old, scim, next }) {
      await scim.patch(`/Groups/${next}`, [replace('members', [{ value: await scim.user('a') }])]);
      emit({ take: ['b', 'c'], from: 'okta-1' });
      await pass(10 * MINUTE_MS);
      await rejectHold(old, { reason: 'they stay' }, toolPorts);
    },
    async after(game) {
      await healed(game);
      return (await listHolds(CONNECTION, game.toolPorts)).map(({ hold }) => hold.decision.kind);
    },
    result: ['rejected'],
  },
  suspectedChange: {
    async before({ rename, feed }) {
      rename('Theirs');
      await feed();
    },
    after: driftAfter,
    result: [['ROLE', 'restore']],
  },
  uncertain: {
    async before({ apply, fails }) {
      fails('lost_late', 'patch', 'put');
      await apply('okta-1', { add: ['d'], to: 'okta-1' });
      fails('none');
      await apply('okta-1', { take: ['d'], from: 'okta-1' });
    },
    after: driftAfter,
    result: [],
  },
  flapDamping: {
    async before({ rename, feed, apply, pass }) {
      // An event of the new source that is newer than the damping would end it.
      await apply('okta-1', { upsert: 'okta-1', name: 'Group rowing' });
      for (const name of ['One', 'Two', 'Three']) {
        rename(name);
        await feed();
        await pass(2 * MINUTE_MS);
      }
      rename('Four');
      await feed();
    },
    async after(game) {
      await healed(game, 10);
      return game.groups()[0]?.name;
    },
    result: 'Four',
  },
  missingSince: {
    before: disappears,
    async after({ world, apply, next, status, id }) {
      world.advance(2 * MINUTE_MS);
      await apply(next);
      return (await status())?.link?.platformId === id;
    },
    result: false,
  },
  openDrift: {
    async before(game) {
      game.fails('unavailable_before', 'patch', 'put');
      await drifts(game);
    },
    after: driftAfter,
    result: [['UNKNOWN', 'restore']],
  },
  unattributed: {
    before: drifts,
    async after(game) {
      game.world.advance(60 * MINUTE_MS);
      await game.feed();
      return driftAfter(game);
    },
    result: [['ROLE', 'restore']],
  },
  previousLink: {
    async before(game) {
      game.fails('unreached', 'create');
      await disappears(game);
      game.world.advance(2 * MINUTE_MS);
      await game.apply('okta-1');
    },
    after: linkAfter,
    result: true,
  },
  createsBeside: {
    foreign: true,
    async before({ toolPorts, old, fails }) {
      fails('unavailable_before', 'create');
      await createNamesake(old, toolPorts);
    },
    async after(game) {
      await healed(game);
      return game.groups().length;
    },
    result: 2,
  },
  pausedAt: {
    before: ({ toolPorts, old }) => pauseGroup(old, toolPorts, 'wait for Jo'),
    async after(game) {
      await game.scim.join(game.next, 'd');
      await healed(game);
      return game.groups()[0]?.users.length;
    },
    result: 3,
  },
  lastWriteAt: {
    before: () => {},
    after: async ({ status }) => typeof (await status())?.lastWriteAt,
    result: 'string',
  },
  refusedFields: {
    async before({ platform, deliver, scim, next }) {
      platform.refusal = (_, __, { name = '' }) => (name === LONG ? 422 : undefined);
      await scim.patch(`/Groups/${next}`, [replace('displayName', LONG)]);
      await deliver({ upsert: 'okta-1', name: LONG });
    },
    async after(game) {
      let refused = 0;
      game.platform.refusal = (_, __, { name = '' }) => {
        if (name !== LONG) return undefined;
        refused += 1;
        return 422;
      };
      await healed(game);
      return refused;
    },
    result: 0,
  },
};

/** Runs a scenario. `lost` is removed from the new group directly after the takeover, as if it had not moved. */
async function play({ before, after, ...how }: Scenario, name: string, lost = 'nothing') {
  const game = await openGame(how);
  const { world, toolPorts, ref, next, old } = game;
  await before(game);
  expect(world.table.look(groupKey(old))?.[name]).toBeDefined();
  await takeOver(game, 'scim');
  await requeueDue(CONNECTION, toolPorts);
  world.table.change(groupKey(ref(next)), { remove: [lost] });
  await resumeConnection(CONNECTION, toolPorts);
  const seen = await after(game);
  if (lost === name) game.platform.violations.splice(0);
  return seen;
}

it.each(platformAttributes())('%s has its effect after a takeover, and none if lost', async (name) => {
  const scenario = SCENARIOS[name] as Scenario;
  expect(await play(scenario, name)).toEqual(scenario.result);
  expect(await play(scenario, name, name)).not.toEqual(scenario.result);
});
