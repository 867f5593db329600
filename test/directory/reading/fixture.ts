import type { Settings } from '../../../directory-simulator/engine/settings.ts';
import type { WorldInput } from '../../../directory-simulator/engine/world.ts';
import type { Directory, DirectoryMember } from '../../../shared/directory/ports.ts';
import type { ReaderPorts } from '../../../shared/directory/reading/context.ts';
import { type ReadingOptions, readDirectory } from '../../../shared/directory/reading/run.ts';
import { createReaderStore } from '../../../shared/directory/store/reader-store.ts';
import { groupId, memberId } from '../../../shared/domain/ids.ts';
import { createLeases } from '../../../shared/store/leases.ts';
import type { OutgoingEvent } from '../../../shared/sync/ports/queues.ts';
import { createTestEngine } from '../../support/engine/test-engine.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { openEntra } from '../vendors/entra/reader.ts';
import { openGoogle } from '../vendors/google/reader.ts';
import { openOkta } from '../vendors/okta/reader.ts';

export interface Body {
  readonly type: string;
  readonly time: string;
  readonly data: {
    readonly group?: { readonly id: string; readonly name?: string };
    readonly members?: readonly { readonly id: string }[];
    readonly user?: Readonly<Record<string, string>>;
  };
}

const ADMIN = { id: 'u-admin', primaryEmail: 'admin@acme.test', isAdmin: true };

/** Returns a company of people a, b, c and d, with the given groups: `{rowing: ['a', 'b']}`. */
export function company(groups: Readonly<Record<string, readonly string[]>>): WorldInput {
  const people = ['a', 'b', 'c', 'd'].map((id) => ({ id, primaryEmail: `${id}@acme.test` }));
  return {
    domain: 'acme.test',
    users: [ADMIN, ...people],
    groups: Object.entries(groups).map(([id, members]) => ({
      id,
      email: `${id}@acme.test`,
      name: `Group ${id}`,
      members: members.map((member) => ({ member })),
    })),
  };
}

interface Options {
  readonly world: WorldInput;
  readonly directory?: Partial<Settings>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly seed?: string;
}

/** Creates a reader of any directory, with the engine, the platform and one clock. */
export async function readerOf(
  directory: (nowMs: () => number) => Directory,
  settings: Readonly<Record<string, unknown>> = {},
  skewMs = () => 0,
) {
  const engine = await createTestEngine({ settings: { match: ['email=workEmail'], ...settings } });
  const { world } = engine;
  const opened = directory(world.nowMs);
  const sent: Body[] = [];
  let ids = 0;
  let isQueueOpen = true;
  const send = async (messages: readonly OutgoingEvent[]) =>
    messages.map(({ body, connection = '' }) => {
      if (!isQueueOpen) return { refused: 'closed' };
      const parsed = JSON.parse(body) as Body | readonly Body[];
      sent.push(...[parsed].flat());
      world.eventsQueue.send({ body, attributes: { connection } });
      return { messageId: 'm' };
    });
  const ports: ReaderPorts = {
    ...world.toolPorts,
    leases: createLeases(world.table),
    reader: createReaderStore(world.table),
    directories: { open: async () => opened, examine: async () => [] },
    events: { send },
    clock: () => world.nowMs() + skewMs(),
    newId: () => {
      ids += 1;
      return String(ids).padStart(8, '0');
    },
  };
  const run = async (options: Partial<ReadingOptions> = {}) => {
    const forever = { deadlineMs: Number.POSITIVE_INFINITY };
    return readDirectory(await world.connection(), ports, { ...forever, ...options });
  };
  return {
    ...engine,
    ports,
    run,
    takeSent: () => sent.splice(0),
    closeQueue: (isClosed: boolean) => {
      isQueueOpen = !isClosed;
    },
    stored: async (group: string) =>
      (await ports.reader.groups((await world.connection()).name)).find((one) => one.group === group),
  };
}

/** The answers of a directory that reports no change. */
export const QUIET = {
  hasMember: async () => false,
  user: async () => undefined,
  tryUsers: async () => {},
  changesSince: async () => ({ groups: [], users: [], cursor: '1' }),
  cursorAt: async () => '1',
  lagMs: 0,
} satisfies Partial<Directory>;

/** Returns a member as a directory with these groups lists it. */
export const memberOf = (id: string, groups: ReadonlyMap<string, unknown>): DirectoryMember =>
  groups.has(id)
    ? { kind: 'group', id: groupId(id) }
    : {
        kind: 'user',
        user: { id: memberId(id), attributes: new Map([['email', `${id}@acme.test`]]), isActive: true },
      };

interface Simulated {
  readonly clock: { ms: number; readonly skewMs: number };
  readonly directory: Directory;
  readonly control: (name: string, body?: unknown) => Promise<unknown>;
}

async function drive<Vendor extends Simulated>(simulated: Vendor, settings: Options['settings'] = {}) {
  const reader = await readerOf(
    () => simulated.directory,
    settings,
    () => simulated.clock.skewMs,
  );
  const syncClocks = () => {
    simulated.clock.ms = Math.max(simulated.clock.ms, reader.world.nowMs());
  };
  const run = async (options: Partial<ReadingOptions> = {}) => {
    syncClocks();
    return reader.run(options);
  };
  const change = async (...changes: readonly object[]) => {
    syncClocks();
    await simulated.control('changes', changes);
  };
  /** Advances the clock. Runs the reader every five minutes, and the engine between these runs. */
  const passMinutes = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 5) {
      await run();
      await reader.pass(5 * MINUTE_MS);
    }
  };
  return {
    ...reader,
    simulated,
    run,
    change,
    passMinutes,
    /** Changes the directory. The next run of the reader begins a minute later. */
    async changeFor(minutes: number, ...changes: readonly object[]) {
      await change(...changes);
      await reader.pass(MINUTE_MS);
      await passMinutes(minutes);
    },
  };
}

export async function openReader({ world, directory: difficulty = {}, settings, seed = '1' }: Options) {
  const administrator = ADMIN.primaryEmail;
  const google = await openGoogle({ world, administrator, settings: difficulty, seed });
  return { ...(await drive(google, settings)), google };
}

export async function openEntraReader({ world, directory: difficulty = {}, settings, seed = '1' }: Options) {
  const entra = await openEntra({ world, settings: difficulty, seed });
  return { ...(await drive(entra, settings)), entra };
}

async function openOktaReader({ world, directory = {}, settings, seed = '1' }: Options) {
  const okta = await openOkta({ world, settings: directory, seed });
  return { ...(await drive(okta, settings)), okta };
}

/** Runs the reader until the groups of a, b, c and d are on the platform and in sync. */
export async function settle<Driven extends Awaited<ReturnType<typeof drive>>>(
  reader: Driven,
  minutes: number,
) {
  await reader.hire('a', 'b', 'c', 'd');
  await reader.passMinutes(minutes);
  reader.takeSent();
  return reader;
}

/** Creates an organisation whose groups are on the platform and in sync. */
export const settledOkta = async (options: Options) => settle(await openOktaReader(options), 40);

/** The readers of all simulated vendors, for tests that apply to each vendor. */
export const READERS = { google: openReader, entra: openEntraReader, okta: openOktaReader };

export type Reader = Awaited<ReturnType<typeof openReader>>;

export const kindsOf = (bodies: readonly Body[]) => bodies.map(({ type }) => type.replace('directory.', ''));

/** Returns the groups of the platform, with their users in order. */
export const platformGroupsOf = ({ world }: Pick<Reader, 'world'>) =>
  [...world.platform.groups.values()].map(({ id, name, spokeId, users }) => ({
    id,
    name,
    spokeId,
    users: [...users].sort(),
  }));
