import { expect, onTestFinished } from 'vitest';
import { type holdsOf, holdWith } from '../../../shared/domain/hold.ts';
import { type GroupRef, groupId, memberId, roleId } from '../../../shared/domain/ids.ts';
import type { AuditEntry } from '../../../shared/sync/ports/logs.ts';
import { sweep } from '../../../shared/sync/reconcile/sweep.ts';
import { seededRandom } from '../../../simulate/random.ts';
import { drive } from './drive.ts';
import { suspectChanged } from './look-over.ts';
import { Scheduler } from './scheduler.ts';
import { CONNECTION, createWorld, type Faults, NO_FAULTS, type WorldOptions } from './world.ts';

/** An event of the directory. A member's id is also the member's name, and the address is `<id>@acme.test`. */
export type DirectoryEvent =
  | { readonly upsert: string; readonly name?: string }
  | { readonly remove: string }
  /** A snapshot of a group. With `name: null`, the snapshot contains no name. */
  | { readonly snapshot: string; readonly of: readonly string[]; readonly name?: string | null }
  | { readonly add: readonly string[]; readonly to: string }
  | { readonly take: readonly string[]; readonly from: string }
  | { readonly forget: string }
  | {
      readonly user: string;
      readonly email?: string;
      readonly otherEmails?: string;
      readonly type?: string;
      readonly 'scim:active'?: 'true' | 'false';
    };

/** Creates a world. After each event, the engine runs until no work is left. A recorded violation fails the test. */
export async function createTestEngine(options: Partial<WorldOptions> = {}) {
  const random = seededRandom(7);
  const troubles: { -readonly [Name in keyof Faults]: Faults[Name] } = { ...NO_FAULTS };
  const world = await createWorld({
    random,
    faults: {
      table: () => troubles.table(),
      platform: (call) => troubles.platform(call),
      queue: () => troubles.queue(),
    },
    ...options,
  });
  onTestFinished(() => expect(world.platform.violations).toEqual([]));
  const scheduler = new Scheduler({ random, onEffect: () => world.advance(1) });
  let sentCount = 0;
  const { toolPorts } = world;

  const emit = (...directoryEvents: readonly DirectoryEvent[]) => emitAs('', directoryEvents);
  const emitAs = (sentBy: string, directoryEvents: readonly DirectoryEvent[]) => {
    for (const directoryEvent of directoryEvents) {
      sentCount += 1;
      world.advance(1_000);
      const event = {
        specversion: '1.0',
        id: `e${sentCount}`,
        source: 'test',
        time: at(world.nowMs()),
        ...eventOf(directoryEvent),
      };
      world.eventsQueue.send({ body: JSON.stringify(event), attributes: sentBy === '' ? {} : { sentBy } });
    }
  };
  /** Runs a number of rounds. Tests use this function if the engine always has work left. */
  const work = async (maxRounds: number) => {
    await drive({ world, scheduler, maxRounds }).catch((error: unknown) => {
      if (!String(error).includes('still busy')) throw error;
    });
  };
  return {
    world,
    troubles,
    ref: (group: string): GroupRef => ({ connection: CONNECTION, group: groupId(group) }),
    /** Sends events, and runs the engine until no work is left. */
    async deliver(...directoryEvents: readonly DirectoryEvent[]) {
      emit(...directoryEvents);
      await drive({ world, scheduler });
    },
    /** Sends events. The engine does not run. */
    emit,
    /** Sends events by hand as the given person, and runs the engine until no work is left. */
    async deliverAs(sentBy: string, ...directoryEvents: readonly DirectoryEvent[]) {
      emitAs(sentBy, directoryEvents);
      await drive({ world, scheduler });
    },
    work,
    /** Runs the engine for `ms` of simulated time. The engine may still have work left at the end. */
    async pass(ms: number, rounds = 20) {
      const untilMs = world.nowMs() + ms;
      while (world.nowMs() < untilMs) {
        const atMs = world.nowMs();
        await work(rounds);
        if (world.nowMs() === atMs) world.advance(60_000);
      }
    },
    /** Returns the stored group, and the first set of its removals with each decision. */
    state: async (group: string) => {
      const state = await toolPorts.groups.read({ connection: CONNECTION, group: groupId(group) });
      return state && { ...state, ...heldIn(state) };
    },
    /** Returns the sorted users of each platform group with this spokeId. The result has one list per group. */
    shown: (spokeId: string): readonly (readonly string[])[] =>
      [...world.platform.groups.values()]
        .filter((group) => group.spokeId === spokeId)
        .map(({ users }) => [...users].sort()),
    /** Runs a sweep after `ms`, and then the engine until no work is left. */
    async sweepAfter(ms: number) {
      world.advance(ms);
      await sweep(await world.connection(), toolPorts);
      await drive({ world, scheduler });
    },
    /** Finds changes by other clients after `ms`, as the feed does, and runs the engine until no work is left. */
    async findChanges(ms = 0) {
      world.advance(ms);
      await suspectChanged(world);
      await drive({ world, scheduler });
    },
    /** Returns the kinds of all recorded differences. */
    driftKinds: async () => (await allOf(toolPorts.drift.list(CONNECTION))).map(({ kind }) => kind),
    /** Returns each pending member of the group `g` with the reason. */
    pending: async () =>
      (await toolPorts.groups.members({ connection: CONNECTION, group: groupId('g') })).flatMap(
        ({ member, pending }) => (pending === undefined ? [] : [[member, pending.cause]]),
      ),
    audit: (group: string): Promise<readonly AuditEntry[]> =>
      allOf(toolPorts.audit.read({ connection: CONNECTION, group: groupId(group) })),
    /** Adds employees with the e-mail address `<id>@acme.test` and the user id `u-<id>`. */
    hire: (...ids: readonly string[]) =>
      toolPorts.hire(ids.map((id) => ({ role: id, email: `${id}@acme.test` }))),
    member: memberId,
    role: roleId,
  };
}

export async function allOf<One>(pages: AsyncIterable<readonly One[]>): Promise<readonly One[]> {
  const all: One[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}

const at = (ms: number) => new Date(ms).toISOString();
const members = (ids: readonly string[]) => ids.map((id) => ({ id, email: `${id}@acme.test` }));

export function eventOf(directoryEvent: DirectoryEvent) {
  const of = (type: string, data: object) => ({ type: `directory.${type}`, data });
  if ('upsert' in directoryEvent) {
    const { upsert: id, name = `Group ${id}` } = directoryEvent;
    return of('group.upserted', { group: { id, name } });
  }
  if ('remove' in directoryEvent) return of('group.deleted', { group: { id: directoryEvent.remove } });
  if ('snapshot' in directoryEvent) {
    const { snapshot: id, name = `Group ${id}` } = directoryEvent;
    return of('group.snapshot', { group: { id, name }, members: members(directoryEvent.of) });
  }
  if ('add' in directoryEvent) {
    return of('group.member.added', {
      group: { id: directoryEvent.to },
      members: members(directoryEvent.add),
    });
  }
  if ('take' in directoryEvent) {
    return of('group.member.removed', {
      group: { id: directoryEvent.from },
      members: members(directoryEvent.take),
    });
  }
  if ('forget' in directoryEvent) return of('user.deleted', { user: { id: directoryEvent.forget } });
  const { user: id, ...attributes } = directoryEvent;
  return of('user.upserted', { user: { id, ...attributes } });
}

export const calledBy = (id: string) => ({ caller: async () => ({ kind: 'operator' as const, id }) });

/** Sends a request twice, as the SDK does after a lost answer. */
export const twice =
  <Asked extends readonly unknown[], Answer>(request: (...asked: Asked) => Promise<Answer>) =>
  (...asked: Asked) =>
    request(...asked).then(() => request(...asked));

/** Returns the first set of a group's removals with each decision. */
export const heldIn = (state: Parameters<typeof holdsOf>[0] | undefined) => ({
  hold: holdWith('waiting', state ?? {}),
  approval: holdWith('approved', state ?? {}),
  rejection: holdWith('rejected', state ?? {}),
});
