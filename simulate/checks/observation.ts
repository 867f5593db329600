import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import {
  type Contested,
  contestedValues,
  type ExpectedUsers,
  expectedUsers,
  holdersAmong,
} from '../matching.ts';
import type { HeldGroup, SimulatedPlatform } from '../platform/platform.ts';
import { keptSpokeId } from '../platform/rules.ts';
import type { Reading } from '../reading.ts';
import type { CheckName, Violation } from '../run-log.ts';
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  type PlatformFault,
  type SimulationRun,
  START_MS,
} from '../simulation-run.ts';
import type { Seen } from '../world.ts';
import { blocksOf, mayBlockAt } from './blocks.ts';
import { type Change, createLedger, type Ledger } from './ledger.ts';
import { connectedAtMs, mayNotFindEarlierGroups } from './returns.ts';
import {
  heldUsers,
  holdsIn,
  partitionOf,
  readItem,
  type StoredDrift,
  type StoredGroup,
  type StoredHold,
} from './stored.ts';

export interface ObservedConnection {
  readonly name: string;
  readonly company: string;
  readonly platform: SimulatedPlatform;
  readonly ledger: Ledger;
  readonly settings: ConnectionSettings;
  readonly reading: Reading;
  readonly isObserving: boolean;
  readonly gate: string;
  /** All groups that had at least one event. */
  readonly groups: readonly string[];
  readonly item: (group: string) => StoredGroup | undefined;
  readonly drift: (group: string) => readonly StoredDrift[];
  /** Users whose removal waits for an operator's decision, was rejected, or was approved in the last two hours. */
  readonly held: (group: string) => ReadonlySet<string>;
  /** Whether a deletion of the group waits, was approved in the last two hours, or any removals were rejected. */
  readonly isDeletionHeld: (group: string) => boolean;
  readonly expected: (group: string) => ExpectedUsers;
  /** Returns the linked platform group; without a link, the one that groupsync created. */
  readonly actual: (group: string) => HeldGroup | undefined;
  /** Returns the directory group with this external id. */
  readonly groupWith: (spokeId: string) => string | undefined;
  /** Returns whether the external id is the id of this group. The comparison is the same as in `groupWith`. */
  readonly isIdOf: (group: string, spokeId: string | null | undefined) => boolean;
  readonly hasUncertainRequest: (group: string) => boolean;
  /** Returns the end of the last fault of the platform or of AWS; 0 if there was none. */
  readonly lastFaultMs: (aside?: ReadonlySet<PlatformFault>) => number;
  /** The time of the last change in the HR system. */
  readonly companyMs: number;
  /** The time of the last action of an operator. */
  readonly actionMs: number;
}

export interface Owner {
  readonly connection: string;
  readonly group: string;
}

/** The observed state at one check. All invariant checks share it. */
export interface Observation {
  readonly seen: Seen;
  readonly nowMs: number;
  readonly isEnd: boolean;
  /** The connections whose name never belonged to another company. */
  readonly connections: readonly ObservedConnection[];
  /** Writes of groupsync since the previous check, to groups with a known owner. */
  readonly writes: readonly {
    readonly change: Change;
    readonly owner: Owner;
    readonly connection: ObservedConnection;
  }[];
  /** Writes of groupsync to platform groups that belong to no connection or to a removed connection. */
  readonly strays: readonly { readonly change: Change; readonly owner: Owner | undefined }[];
  /** Returns the directory group of a platform group. The last link names it; without a link, the external id does. */
  readonly ownerOf: (company: string, id: string, spokeId: string | null | undefined) => Owner | undefined;
  /**
   * Returns whether a message that is dead-lettered, or that was received but not deleted, names the group or member.
   * After an operator has discarded a message, every message that was ever dead-lettered counts.
   */
  readonly isInDeadLetters: (group: string) => boolean;
  /** Reports a violation. A second violation with the same check, cause, connection and group is ignored. */
  accuse(
    check: CheckName,
    cause: string,
    about: Pick<Violation, 'connection' | 'group'>,
    sentence: string,
  ): void;
}

export type Checker = (observation: Observation) => void;

/** Returns the removals of connections by operators. A removal also counts if its command crashed. */
export const removalsSince = ({ seen }: Observation, sinceMs: number) =>
  seen.operators.actions.filter(({ kind, atMs }) => kind === 'remove_connection' && atMs >= sinceMs);

/** Returns the group, and the groups of other sources that had the same platform group before. */
export function withMoved(
  { seen }: Pick<Observation, 'seen'>,
  connection: string,
  group: string,
): readonly string[] {
  const moves = seen.operators.actions.flatMap((one) => (one.connection === connection && one.moves) || []);
  return [group, ...moves.flatMap(({ from, to }) => ([from, to].includes(group) ? [from, to] : []))];
}

/** Returns a function that creates the observation for one check. The function keeps the history of earlier checks. */
export function createObserver(): (seen: Seen, isEnd: boolean) => Observation {
  const accused = new Set<string>();
  const ledgers = new Map<string, Ledger>();
  const owners = new Map<string, Owner>();
  const firstCompany = new Map<string, string>();
  const deadLetters = new Set<string>();
  /** The last known state of every drift record. */
  const drifts = new Map<string, StoredDrift>();

  return (seen, isEnd) => {
    const accuse: Observation['accuse'] = (check, cause, about, sentence) => {
      const key = JSON.stringify([check, cause, about.connection, about.group]);
      if (!accused.has(key)) seen.runLog.violated({ check, cause, ...about, sentence });
      accused.add(key);
    };
    const news: (readonly [company: string, change: Change])[] = [];
    for (const [company, platform] of seen.platforms) {
      const ledger = ledgers.get(company) ?? createLedger(platform);
      ledgers.set(company, ledger);
      for (const change of ledger.catchUp()) if (change.initiator === undefined) news.push([company, change]);
    }
    const connections = [...seen.connections.values()].flatMap(({ name, company }) => {
      const first = firstCompany.get(name) ?? company;
      firstCompany.set(name, first);
      const ledger = ledgers.get(company);
      if (first === company)
        return ledger === undefined ? [] : [observed(seen, { ledger, drifts, name, company })];
      const sentence = `The connection name ${name} belongs to ${first} permanently. Expected groupsync to refuse the name for another company, but it is connected to ${company}.`;
      accuse('ownership', 'name_of_another_company', { connection: name }, sentence);
      return [];
    });
    for (const { name, company, groups, item } of connections) {
      for (const group of groups)
        owners.set(`${company} ${item(group)?.link?.id}`, { connection: name, group });
    }
    const ownerOf: Observation['ownerOf'] = (company, id, spokeId) => {
      const known = owners.get(`${company} ${id}`);
      if (known !== undefined || spokeId == null) return known;
      const carried = connections.flatMap((one): Owner[] => {
        const group = one.company === company ? one.groupWith(spokeId) : undefined;
        return group === undefined ? [] : [{ connection: one.name, group }];
      });
      return carried.length === 1 ? carried[0] : undefined;
    };
    const owned = news.map(([company, change]) => {
      const owner = ownerOf(company, change.id, change.spokeIdBefore ?? change.spokeId);
      return { change, owner, connection: connections.find(({ name }) => name === owner?.connection) };
    });
    const isKnown = (one: (typeof owned)[number]): one is Observation['writes'][number] => !!one.connection;
    const strays = owned.filter((one) => !isKnown(one));
    const { events, eventsDlq } = seen.queues;
    for (const { body } of eventsDlq) deadLetters.add(body);
    const hasDiscarded = seen.operators.actions.some(({ kind, done }) => done && kind === 'discard_one');
    const waiting = [...events.filter(({ receives }) => receives > 0), ...eventsDlq].map(({ body }) => body);
    const unread = hasDiscarded ? [...waiting, ...deadLetters] : waiting;
    const isInDeadLetters = (group: string) =>
      unread.some((body) => body.includes(`"${group}"`) || body.includes(`"${group}\\"`));
    return {
      seen,
      nowMs: seen.nowMs(),
      isEnd,
      connections,
      writes: owned.filter(isKnown),
      strays,
      ownerOf,
      isInDeadLetters,
      accuse,
    };
  };
}

interface Observing extends Pick<ObservedConnection, 'name' | 'company' | 'ledger'> {
  readonly drifts: Map<string, StoredDrift>;
}

/** Returns the reading with the stored names, where overlapping SCIM requests permit two names. */
function withOtherNames(reading: Reading, item: (group: string) => StoredGroup | undefined): Reading {
  if (reading.otherNames.size === 0) return reading;
  const groups = new Map(reading.groups);
  for (const [id, name] of reading.otherNames) {
    const group = groups.get(id);
    if (group !== undefined && item(id)?.name?.value === name) groups.set(id, { ...group, name });
  }
  return { ...reading, groups };
}

function observed(seen: Seen, { ledger, drifts, name, company }: Observing): ObservedConnection {
  const platform = seen.platforms.get(company) as SimulatedPlatform;
  const stored = readItem<{ settings: ConnectionSettings; observing?: boolean }>(
    seen,
    `C#${name} CONNECTION`,
  );
  const settings = stored?.settings as ConnectionSettings;
  const item = lazily((group: string) => readItem<StoredGroup>(seen, `${partitionOf(name, group)} GROUP`));
  const reading = withOtherNames(seen.directory.read(name), item);
  const colleagues = seen.run.connections.filter((one) => one.company === company).map((one) => one.name);
  const past = seen.run.happenings.filter(
    ({ atMs, connection, actor }) =>
      START_MS + atMs <= seen.nowMs() &&
      (actor === 'aws' || connection === name || colleagues.includes(connection)),
  );
  const rebound = past.flatMap(({ connection, action }) =>
    connection === name && action.kind === 'rebind' ? [action] : [],
  );
  const forgotten = new Set(
    past.flatMap(({ connection, action, actor }) =>
      actor === 'operator' && connection === name && action.kind === 'forget' ? [action.member] : [],
    ),
  );
  /** Returns whether an approval is more than two hours old. By then, groupsync must have written the removals. */
  const isWritten = ({ decision: { kind, atMs = 0 } }: StoredHold) =>
    kind === 'approved' && seen.nowMs() - atMs > 2 * HOUR_MS;
  const groups = [...reading.changedAtMs.keys()];
  const keptId = (id: string) => keptSpokeId(id, platform.traits.spokeIds);
  const byId = lazily((_: 'all') => new Map(groups.toReversed().map((one) => [keptId(one), one])));
  const blocks = mayBlockAt(blocksOf(seen, name), seen.nowMs());
  const certain = blocks.filter(({ isCertain, ended }) => isCertain && ended === undefined);
  const holders = lazily((_: 'all') => holdersAmong(platform.employees.values()));
  const expected = lazily((group: string) =>
    expectedUsers(reading, group, {
      holders: holders('all'),
      settings,
      contested: contestedIn(seen.run)(name),
      rebound,
      forgotten,
      blocked: new Set(certain.flatMap(({ ids }) => [...ids])),
      maybeBlocked: new Set(blocks.flatMap(({ possibleIds }) => [...possibleIds])),
    }),
  );
  return {
    name,
    company,
    platform,
    ledger,
    settings,
    reading,
    item,
    expected,
    isObserving: stored?.observing === true,
    hasUncertainRequest: (group) => SCIM_ID.test(group) && hasUncertainScimRequest(past, name),
    gate: readItem<{ state: string }>(seen, `C#${name} GATE`)?.state ?? 'open',
    groups,
    groupWith: (spokeId) => byId('all').get(keptId(spokeId)),
    isIdOf: (group, spokeId) => spokeId != null && keptId(group) === keptId(spokeId),
    drift: lazily((group: string) => {
      const stored = seen.under<StoredDrift>(`C#${name}`, 'DRIFT#').filter((one) => one.group === group);
      if (seen.run.days < DRIFT_KEPT_DAYS) return stored;
      for (const one of stored) drifts.set(`${name} ${one.id}`, one);
      return [...drifts].flatMap(([key, one]) =>
        key.startsWith(`${name} `) && one.group === group ? [one] : [],
      );
    }),
    isDeletionHeld: (group) => {
      const held = holdsIn(item(group) ?? {}).filter((one) => !isWritten(one));
      return held.some(({ deletes }) => deletes);
    },
    held: lazily((group: string) => {
      const held = holdsIn(item(group) ?? {}).filter((one) => !isWritten(one));
      return new Set(held.flatMap(({ digest }) => heldUsers(seen.under, name, group, digest)));
    }),
    actual: lazily((group: string) => {
      const linked = platform.groups.get(item(group)?.link?.id ?? '');
      const sinceMs = mayNotFindEarlierGroups(name, platform) ? connectedAtMs(seen, name) : 0;
      const ownCreated = () =>
        [...platform.groups.values()].find(
          ({ spokeId, madeBy, createdAtMs }) =>
            spokeId !== null &&
            keptId(spokeId) === keptId(group) &&
            madeBy === 'us' &&
            createdAtMs >= sinceMs,
        );
      return linked ?? ownCreated();
    }),
    lastFaultMs: lazily((aside: ReadonlySet<PlatformFault> = NO_PLATFORM_FAULTS) =>
      latest([seen.lambdas.diedMs(), ...past.map((one) => lastFaultOf(one, seen, aside))]),
    ),
    companyMs: latest(past.map(({ actor, atMs }) => (actor === 'company' ? START_MS + atMs : 0))),
    actionMs: latest(seen.operators.actions.map((one) => (concerns(one, name) ? one.atMs : 0))),
  };
}

const DRIFT_KEPT_DAYS = 400;

/** Returns whether an action concerns the connection. */
const concerns = ({ connection, kind }: Seen['operators']['actions'][number], name: string): boolean =>
  connection === name || kind === 'replay_all';

/** Ids that the SCIM server gives to groups. */
export const SCIM_ID = /^g[0-9a-f]{32}$/;
const ANSWERED_WITHIN_MS = 2 * MINUTE_MS;

/** Returns whether a fault may have hidden the answer to a SCIM request from the simulated client. */
function hasUncertainScimRequest(past: SimulationRun['happenings'], connection: string): boolean {
  const isAsked = (one: SimulationRun['happenings'][number]) =>
    one.actor === 'directory' && one.way.form === 'scim_request';
  const asked = past.filter((one) => one.connection === connection && isAsked(one));
  return past.some(({ actor, action, ...fault }) => {
    if (actor !== 'aws' || action.kind === 'skew' || action.kind === 'twins') return false;
    if (action.kind === 'crash' && action.lambda !== 'scim') return false;
    const untilMs = 'forMs' in action ? fault.atMs + action.forMs : Number.POSITIVE_INFINITY;
    return asked.some(({ atMs, actor, ...one }) => {
      const lateMs = actor === 'directory' && 'way' in one ? one.way.lateMs : 0;
      return atMs + lateMs > fault.atMs - ANSWERED_WITHIN_MS && atMs < untilMs;
    });
  });
}

const contested = new WeakMap<SimulationRun, (connection: string) => Contested>();

function contestedIn(run: SimulationRun): (connection: string) => Contested {
  const known = contested.get(run) ?? lazily((connection: string) => contestedValues(run, connection));
  contested.set(run, known);
  return known;
}

/** The longest time between the start of a crash fault and the crash. */
export const TRAP_MS = 2 * HOUR_MS;

function lastFaultOf(
  { actor, atMs, action }: SimulationRun['happenings'][number],
  { run, nowMs }: Seen,
  aside: ReadonlySet<PlatformFault>,
) {
  if (actor !== 'platform' && actor !== 'aws') return 0;
  if (action.kind === 'platformFault' && aside.has(action.platformFault)) return 0;
  const forMs = 'forMs' in action ? action.forMs : TRAP_MS;
  return Math.min(START_MS + atMs + forMs, START_MS + run.days * DAY_MS, nowMs());
}

/**
 * Returns whether the connection has lost its credential, so that an operator must connect it again. In this case the
 * secret is missing, or groupsync never stored the newest refresh token of the platform.
 */
export function hasLostItsCredential({ seen }: Observation, { platform, name }: ObservedConnection): boolean {
  const { value } = seen.secretsManager.stored.get(name) ?? {};
  if (value === undefined || !('refreshToken' in value)) return value === undefined;
  const { refreshToken } = value;
  const isRefused = platform.calls.some(({ status, token }) => status === 400 && token === refreshToken);
  const good = platform.tokens.refreshTokens;
  return isRefused && ![...good].some((token) => seen.secretsManager.ever.has(`${name} ${token}`));
}

const NO_PLATFORM_FAULTS: ReadonlySet<PlatformFault> = new Set();

export const latest = (times: Iterable<number>): number => {
  let found = 0;
  for (const time of times) if (time > found) found = time;
  return found;
};

/** Returns `make` with cached results. The cache is correct because the state does not change during one check. */
function lazily<Key, What>(make: (key: Key) => What): (key: Key) => What {
  const made = new Map<Key, What>();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key));
    return made.get(key) as What;
  };
}
