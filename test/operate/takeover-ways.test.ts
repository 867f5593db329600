import { expect, it } from 'vitest';
import { planTakeover, takeOverGroups } from '../../shared/directory/operate/takeover.ts';
import type { Source } from '../../shared/domain/source.ts';
import { blockPerson } from '../../shared/operate/block.ts';
import { rejectHold } from '../../shared/operate/holds.ts';
import { observeConnection, pauseGroup, readPause, resumeConnection } from '../../shared/operate/pausing.ts';
import { changeSettings, planSettings } from '../../shared/operate/settings.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import { openMovesOf } from '../../shared/sync/moves.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { company, openReader, platformGroupsOf, type Reader } from '../directory/reading/fixture.ts';
import { openEntra } from '../directory/vendors/entra/reader.ts';
import { CONNECTION, MINUTE_MS, takeEvents, takeWoken } from '../support/engine/world.ts';
import { directory, dyingAfter, resume, type Scim, scimOf } from '../support/operate/takeovers.ts';
import { remove } from '../support/scim-operations.ts';

type Kind = 'events' | 'scim' | 'google' | 'entra';

const WAYS: readonly (readonly [Kind, Kind, number])[] = [
  ['events', 'scim', 27],
  ['scim', 'events', 7],
  ['events', 'google', 7],
  ['google', 'events', 7],
  ['scim', 'google', 7],
  ['google', 'scim', 7],
  ['google', 'entra', 7],
];

interface Expected {
  readonly old: string;
  /** The members that the new source sends. */
  readonly next: string;
  /** The members of the platform group before the takeover, after it, and after the way back. */
  readonly before: string;
  readonly there: string;
  readonly back: string;
}

/** The groups of each way, one for each state. Each character is a member. */
const GROUPS: Readonly<Record<string, Expected>> = {
  plain: { old: 'abc', next: 'bcd', before: 'abc', there: 'bcd', back: 'abcd' },
  waits: { old: 'abc', next: 'a', before: 'abc', there: 'abc', back: 'abc' },
  rejected: { old: 'abc', next: 'a', before: 'abc', there: 'abc', back: 'abc' },
  deleted: { old: 'abc', next: 'abc', before: 'abc', there: 'abc', back: 'abc' },
  paused: { old: 'abc', next: 'bcd', before: 'abc', there: 'abc', back: 'abc' },
  blocked: { old: 'abce', next: 'abce', before: 'abc', there: 'abc', back: 'abc' },
  open: { old: 'abc', next: 'abcd', before: 'abcd', there: 'abcd', back: 'abcd' },
};
const NO_STATE: Expected = { old: 'abc', next: 'abd', before: 'abc', there: 'abd', back: 'abc' };
const expectedOf = (name: string): Expected => GROUPS[name] ?? NO_STATE;

interface Sender {
  /** @returns the id of the group in this source */
  send(name: string, members: readonly string[]): Promise<string>;
  join(group: string, member: string): Promise<unknown>;
  take(group: string, ...members: readonly string[]): Promise<unknown>;
  end(group: string): Promise<unknown>;
}

const readerSender = ({ change, run }: Reader): Sender => ({
  send: async (name) => name,
  async join(group, member) {
    await change({ kind: 'addMember', group, member });
    await run({ isFull: true });
  },
  take: (group, ...members) => change(...members.map((member) => ({ kind: 'removeMember', group, member }))),
  end: (group) => change({ kind: 'deleteGroup', group }),
});

const SENDERS: Readonly<Record<Kind, (reader: Reader, scim: Scim) => Sender>> = {
  events: ({ emit }) => ({
    async send(name, of) {
      emit({ snapshot: `o-${name}`, name: `Group ${name}`, of });
      return `o-${name}`;
    },
    join: async (to, member) => emit({ add: [member], to }),
    take: async (from, ...members) => emit({ take: members, from }),
    end: async (group) => emit({ remove: group }),
  }),
  scim: (_, scim) => ({
    send: (name, members) => scim.group(`Group ${name}`, members),
    join: scim.join,
    async take(group, ...members) {
      const ids = await Promise.all(members.map(scim.user));
      await scim.patch(
        `/Groups/${group}`,
        ids.map((id) => remove(`members[value eq "${id}"]`)),
      );
    },
    end: (group) => scim.delete(`/Groups/${group}`),
  }),
  google: readerSender,
  entra: (reader) => ({ ...readerSender(reader), send: async (name) => `e-${name}` }),
};

/** Returns the groups of a directory. The id of each group begins with this prefix. */
function worldOf(names: readonly string[], kind: 'old' | 'next', prefix = '') {
  const world = company({});
  const groups = names.map((name) => ({
    id: `${prefix}${name}`,
    email: `${name}@acme.test`,
    name: `Group ${name}`,
    members: [...expectedOf(name)[kind]].map((member) => ({ member })),
  }));
  return { ...world, users: [...(world.users ?? []), { id: 'e', primaryEmail: 'e@acme.test' }], groups };
}

const sourceOf = (kind: Kind): Source => (kind === 'events' || kind === 'scim' ? kind : 'directory');
const guard = {
  minSize: 1,
  maxRemovedCount: 1,
  maxRemovedShare: 0.5,
  perHourCount: 1_000,
  deletedGroups: 0,
  deletedGroupsShare: 0,
};

async function openWay(from: Kind, to: Kind, count: number) {
  const more = Array.from({ length: count - Object.keys(GROUPS).length }, (_, n) => `more${n}`);
  // After a takeover to another directory, that directory must own all groups.
  const states = Object.keys(GROUPS).filter((name) => to !== 'entra' || name !== 'deleted');
  const names = [...states, ...more];
  const hasReader = from === 'google' || to === 'google';
  const settings = { guard, ...(hasReader && { directory }) };
  const reader = await openReader({ world: worldOf(names, from === 'google' ? 'old' : 'next'), settings });
  await reader.hire(...'abcde');
  const scim = await scimOf(reader);
  const [old, next] = [SENDERS[from](reader, scim), SENDERS[to](reader, scim)];
  const pass = (minutes = 30) => (hasReader ? reader.passMinutes(minutes) : reader.pass(minutes * MINUTE_MS));
  const { google } = reader;
  const entra = (await openEntra({ world: worldOf(names, 'next', 'e-'), settings: {}, seed: '1' })).directory;
  const directoryOf = (kind: Kind) => (kind === 'entra' ? entra : google.directory);
  const { toolPorts } = reader.world;
  const takeOver = async (kind: Kind, ports = toolPorts) => {
    const connection = await reader.world.connection();
    const target =
      sourceOf(kind) === 'directory'
        ? { source: 'directory' as const, directory: directoryOf(kind), replaces: to === 'entra' }
        : { source: kind as 'events' | 'scim', sameIds: false };
    return takeOverGroups(connection, await planTakeover(connection, target, ports), ports);
  };
  /** Connects the directory of the new source, as an operator does after the takeover. */
  const connect = async (kind: Kind) => {
    if (to !== 'entra') return;
    const value = kind === 'entra' ? { kind, tenant: 'acme.test', clientId: 'reader' } : directory;
    const ports = { ...toolPorts, vault: {} as never };
    await changeSettings(await planSettings(CONNECTION, [{ key: 'directory', value }], ports), ports);
    await reader.ports.reader.forget(CONNECTION);
    Object.assign(reader.ports.directories, { open: async () => directoryOf(kind) });
  };
  // The ways with a reader make the same writes as the others, so there each third death is enough.
  const nthDeath = hasReader ? 3 : 1;
  const step = nthDeath * Math.ceil(count / 13);
  return { reader, names, step, nthDeath, old, next, pass, takeOver, connect };
}

/** Returns the platform groups by their name in the directory, in the order in which the directory lists them. */
const shownOf = (reader: Reader, names: readonly string[]) => {
  const all = new Map(platformGroupsOf(reader).map((group) => [group.name, group]));
  return names.map((name) => all.get(`Group ${name}`));
};

const dies = (error: Error) => expect(error.message).toContain('it dies here');

/**
 * Lets the command and the requeue job continue a takeover in turns. The first worker dies before its first write, the
 * second before its second, and so on. Between them, `meanwhile` runs, and the engine ingests and applies.
 */
async function inTurns(
  reader: Reader,
  step: number,
  takeOver: (ports: Reader['world']['toolPorts']) => Promise<unknown>,
  meanwhile: (turn: number) => Promise<void>,
) {
  const { world } = reader;
  for (let workers = 1; ; workers += 1) {
    const ports = dyingAfter(reader, (workers - 1) * step);
    const job = async () => {
      const { stuck = [] } = await requeueDue(CONNECTION, ports);
      if (stuck.length > 0) throw new Error(stuck.join());
    };
    let isDone = true;
    await (workers % 2 === 0 ? job() : takeOver(ports)).catch((error: Error) => {
      dies(error);
      isDone = false;
    });
    const engine = world.portsFor({});
    await meanwhile(workers);
    await ingest(takeEvents(world), engine);
    for (const ref of takeWoken(world)) await applyGroup(ref, engine);
    const open = await openMovesOf(CONNECTION, world.toolPorts.reader);
    if (open.length > 0) await expect(resume(reader)).rejects.toThrow('is not finished');
    else if (isDone && workers % 2 === 1) return workers;
  }
}

/**
 * Applies each group with workers of which the first dies before its first write, the second before its second, and so
 * on. The guard counts the reservation of a dead worker for 75 minutes.
 */
async function applyInTurns(
  { reader, nthDeath }: Awaited<ReturnType<typeof openWay>>,
  groups: readonly string[],
) {
  for (let deaths = 0; deaths < 15; deaths += nthDeath) {
    for (const group of groups) await applyGroup(reader.ref(group), dyingAfter(reader, deaths)).catch(dies);
    reader.world.advance(80 * MINUTE_MS);
  }
}

/** Lets the old source add d to a group, and loses the answer of the platform. Then the platform fails. */
async function loseAnswer({ reader, old }: Awaited<ReturnType<typeof openWay>>, group: string) {
  let hasWritten = false;
  reader.troubles.platform = (call) => {
    if (call !== 'patch' && call !== 'put') return hasWritten ? 'unavailable_before' : 'none';
    hasWritten = true;
    return 'lost_after';
  };
  await old.join(group, 'd');
  for (let round = 0; round < 60 && !hasWritten; round += 1) await reader.pass(MINUTE_MS, 1);
}

it.each(WAYS)(
  'groups of %s that move to %s and back keep platform group, decision, pause, block and open write, whatever write the workers die before',
  async (from, to, count) => {
    const way = await openWay(from, to, count);
    const { reader, names, step, old, next, pass, takeOver, connect } = way;
    const { toolPorts } = reader.world;
    const passBefore = (minutes: number) =>
      from === 'google' ? pass(minutes) : reader.pass(minutes * MINUTE_MS);
    const ids = new Map<string, { old: string; next: string }>();
    const idOf = (name: string, kind: 'old' | 'next') => ids.get(name)?.[kind] ?? '';
    for (const name of names)
      ids.set(name, { old: await old.send(name, [...expectedOf(name).old]), next: '' });
    await passBefore(30);
    await blockPerson(CONNECTION, { text: 'u-e', reason: 'stolen laptop' }, toolPorts);
    await pauseGroup(reader.ref(idOf('paused', 'old')), toolPorts, 'wait for Jo');
    for (const name of ['waits', 'rejected']) await old.take(idOf(name, 'old'), 'b', 'c');
    if (ids.has('deleted')) await old.end(idOf('deleted', 'old'));
    await passBefore(120);
    await rejectHold(reader.ref(idOf('rejected', 'old')), { reason: 'they stay' }, toolPorts);
    await loseAnswer(way, idOf('open', 'old'));
    const before = shownOf(reader, names);
    const owner = (kind: 'old' | 'next') => (name: string) => idOf(name, kind);
    const shown = (stage: 'before' | 'there' | 'back', ownerOf: (name: string) => string) =>
      names.map((name) => ({
        ...{ id: before[names.indexOf(name)]?.id, name: `Group ${name}`, spokeId: ownerOf(name) },
        users: [...expectedOf(name)[stage]].map((user) => `u-${user}`),
      }));
    expect(before).toEqual(shown('before', owner('old')));
    const decisions = async (kind: 'old' | 'next') =>
      Promise.all(
        ['waits', 'rejected'].map(async (name) => (await reader.state(idOf(name, kind)))?.removals),
      );
    const decided = await decisions('old');

    await observeConnection(await reader.world.connection(), 'connections_set', toolPorts);
    for (const name of names)
      ids.set(name, {
        old: idOf(name, 'old'),
        next: await next.send(name, [...expectedOf(name).next]),
      });
    await old.join(idOf('plain', 'old'), 'd');
    await reader.work(60);
    /** Both sources send changes during the moves. A reader sends none, because each read takes long. */
    const bothSend = async (turn: number) => {
      if (!(await reader.world.connection()).observing) return;
      for (const [kind, sender, group] of [
        [from, old, idOf('plain', 'old')],
        [to, next, idOf('plain', 'next')],
      ] as const)
        if (sourceOf(kind) !== 'directory') await (turn % 2 === 1 ? sender.join : sender.take)(group, 'd');
    };
    if (to === 'entra') await expect(connect(to)).rejects.toThrow('the reader owns 6 groups');
    await inTurns(reader, step, (ports) => takeOver(to, ports), bothSend);
    expect((await takeOver(to)).groups).toEqual([]);
    await bothSend(1);
    reader.troubles.platform = () => 'none';
    await connect(to);
    await pass();
    expect(shownOf(reader, names)).toEqual(before);
    expect(await decisions('next')).toEqual(decided);
    await resumeConnection(CONNECTION, toolPorts);
    await applyInTurns(way, names.slice(0, 7).map(owner('next')));
    await pass(120);
    const there = shown('there', (name) => idOf(name, name === 'paused' ? 'old' : 'next'));
    expect(shownOf(reader, names)).toEqual(there);

    await inTurns(reader, step, (ports) => takeOver(from, ports), bothSend);
    await bothSend(1);
    await connect(from);
    await pass();
    expect(shownOf(reader, names)).toEqual(there);
    await resumeConnection(CONNECTION, toolPorts);
    await applyInTurns(way, names.slice(0, 7).map(owner('old')));
    await pass(120);
    expect(shownOf(reader, names)).toEqual(
      shown('back', (name) => idOf(name, name === 'deleted' ? 'next' : 'old')),
    );
    expect(await decisions('old')).toEqual(decided);
    expect(await readPause(reader.ref(idOf('paused', 'old')), toolPorts)).toMatchObject({
      entry: { reason: 'wait for Jo' },
    });
  },
);
