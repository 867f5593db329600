import { createHash } from 'node:crypto';
import type { ClientWrite, HeldGroup, PlatformOptions, PlatformWrite } from './facts.ts';
import type { PlatformFaults } from './platform-faults.ts';
import * as rules from './rules.ts';

/** The client that makes a write. Writes of groupsync have no initiator. */
export interface Author {
  readonly by: string;
  readonly token: string;
  readonly late?: boolean;
  readonly initiator?: rules.InitiatorType;
}

type WriteBody = rules.GroupBody & { readonly version?: string | number };

export type Written =
  | { readonly status: 200; readonly group: HeldGroup }
  | { readonly status: number; readonly group?: undefined; readonly isStale?: true };

const INITIATORS = {
  EXTERNAL: { type: 'EXTERNAL', role: null, displayName: 'another-app' },
  ROLE: { type: 'ROLE', role: 'r-admin', displayName: 'An admin' },
  SYSTEM: { type: 'SYSTEM', role: null, displayName: 'Workforce Platform' },
} as const;
const OURSELVES = { type: 'EXTERNAL', role: null, displayName: 'groupsync' } as const;

const numberOf = (text: string): number => createHash('sha256').update(text).digest().readUIntBE(0, 6);

export type Groups = ReturnType<typeof createGroups>;

/** Creates the store of the groups as they really are on the simulated platform, with all writes and feed events. */
export function createGroups(options: PlatformOptions, platformFaults: PlatformFaults) {
  const { company, clock, traits, runLog } = options;
  /** The status of this platform's answer to a write with a name that another group has. */
  const takenStatus = options.random.fork('groups').pick([400, 409]);
  const held = new Map<string, HeldGroup>();
  /** For each group, its states in the order of time. A state without `group` is a deletion. */
  const pasts = new Map<string, { readonly sinceMs: number; readonly group?: HeldGroup }[]>();
  const log: rules.FeedEntry[] = [];
  const writes: PlatformWrite[] = [];
  const clientWrites: ClientWrite[] = [];
  const unacceptable = new Set<string>();
  const refusedValues = new Map<string, number>();
  const fieldStatus = options.random.fork('fields').pick([400, 422]);
  let ids = 0;

  const asOf = (atMs: number, id: string): HeldGroup | undefined =>
    pasts.get(id)?.findLast(({ sinceMs }) => sinceMs <= atMs)?.group;

  const newId = () => {
    ids += 1;
    return `${company}-${ids}`;
  };

  interface Done {
    readonly group: HeldGroup;
    readonly change?: rules.GroupChange | undefined;
  }

  /** Records a write. A write that changed something also adds an event to the feed. */
  const note = (action: PlatformWrite['action'], done: Done, author: Author, body: WriteBody): Written => {
    const { group, change } = done;
    const { initiator, late = false, by, token } = author;
    const { id, name, spokeId, version, madeBy } = group;
    const atMs = clock();
    const { version: _, ...sent } = body;
    const removed = action === 'delete' ? group.users : (change?.removed ?? []);
    const added = change?.added ?? [];
    const write = {
      atMs,
      action,
      id,
      name,
      spokeId,
      version,
      madeBy,
      removed,
      added,
      sent,
      by,
      token,
      late,
      isVain: change === undefined,
    };
    if (initiator === undefined) writes.push(write);
    else clientWrites.push({ ...write, initiator });
    if (change === undefined) return { status: 200, group };
    const who = initiator === undefined ? OURSELVES : INITIATORS[initiator];
    const batch = { ...change, atMs, group: { id, name }, initiator: who, spoke: who.displayName };
    for (const entry of rules.feedEntries(batch)) log.push(entry);
    return { status: 200, group };
  };

  const hold = (
    group: HeldGroup | rules.PlatformGroup,
    origin: Pick<HeldGroup, 'createdAtMs' | 'madeBy'>,
  ): HeldGroup => {
    const { createdAtMs, madeBy } = origin;
    const text = String(group.version);
    const version = traits.numericVersions ? numberOf(text) : text;
    const now = { ...group, version, createdAtMs, madeBy };
    held.set(group.id, now);
    const past = pasts.get(group.id) ?? [];
    past.push({ sinceMs: past.length === 0 ? createdAtMs : clock(), group: now });
    pasts.set(group.id, past);
    return now;
  };

  const put = (known: HeldGroup, content: rules.GroupContent): Done => {
    const { group, change } = rules.changedGroup(known, content, newId);
    return change === undefined ? { group: known } : { group: hold(group, known), change };
  };

  const nameOf = (sent: string): string => {
    const name = rules.keptName(sent, traits.names);
    if (name !== sent) runLog.fired('trait:names');
    return name;
  };

  const spokeIdOf = (sent: string | null): string | null => {
    if (sent === null) return null;
    const kept = rules.keptSpokeId(sent, traits.spokeIds);
    if (kept !== sent) runLog.fired('trait:spokeIds');
    return kept;
  };

  const isTooLong = (name: string): boolean => {
    if (traits.longestName === null || name.length <= traits.longestName) return false;
    runLog.fired('trait:longestName');
    return true;
  };

  /** Returns the name or external id that the platform refuses in this write; undefined if it refuses neither. */
  const refusedValueOf = ({ name, spokeId }: WriteBody, known?: HeldGroup): string | undefined => {
    const isNewName = name !== undefined && name !== known?.name;
    if (isNewName && isTooLong(name)) return name;
    if (isNewName && platformFaults.isAbout('refuses_name', name) && platformFaults.fire('refuses_name'))
      return name;
    const isNewId = spokeId != null && rules.keptSpokeId(spokeId, traits.spokeIds) !== known?.spokeId;
    if (!isNewId || !platformFaults.isAbout('refuses_spoke_id', spokeId)) return undefined;
    platformFaults.fire('refuses_spoke_id');
    return spokeId;
  };

  /** Returns the status with which the platform refuses the content of a write; undefined if it accepts the content. */
  const refusalOf = (body: WriteBody, known?: HeldGroup): number | undefined => {
    const { name, users = [] } = body;
    const value = refusedValueOf(body, known);
    if (value !== undefined) {
      refusedValues.set(value, clock());
      return fieldStatus;
    }
    const refused = users.filter((user) => platformFaults.isAbout('refuses_user_422', user));
    for (const user of refused) unacceptable.add(user);
    if (refused.length > 0) {
      platformFaults.fire('refuses_user_422');
      return 422;
    }
    if (!traits.uniqueNames || name === undefined) return undefined;
    const kept = rules.keptName(name, traits.names);
    const isTaken = [...held.values()].some((other) => other.name === kept && other.id !== known?.id);
    if (isTaken) runLog.fired('trait:uniqueNames');
    return isTaken ? takenStatus : undefined;
  };

  /**
   * Returns the users that the platform stores. The fault `drops_users` leaves out some users that the write contains.
   * The fault `keeps_users` keeps some users that the write removes.
   */
  const keptUsers = (sent: readonly string[], before: readonly string[]): readonly string[] => {
    const kept = sent.filter((user) => !platformFaults.isAbout('drops_users', user));
    if (kept.length < sent.length) platformFaults.fire('drops_users');
    const wanted = new Set(sent);
    const stuck = before.filter((user) => !wanted.has(user) && platformFaults.isAbout('keeps_users', user));
    if (stuck.length > 0) platformFaults.fire('keeps_users');
    return [...kept, ...stuck];
  };

  const withInstaller = (users: readonly string[]): readonly string[] => {
    if (traits.installer === null || users.includes(traits.installer)) return users;
    runLog.fired('trait:installer');
    return [...users, traits.installer];
  };

  return {
    held: held as ReadonlyMap<string, HeldGroup>,
    asOf,
    all: (atMs: number): readonly HeldGroup[] => [...pasts.keys()].flatMap((id) => asOf(atMs, id) ?? []),
    log,
    writes,
    clientWrites,
    unacceptable: unacceptable as ReadonlySet<string>,
    refusedValues: refusedValues as ReadonlyMap<string, number>,

    create(body: WriteBody, author: Author): Written {
      const isGroupsync = author.initiator === undefined;
      const content = rules.wantedContent('PUT', rules.NO_CONTENT, body);
      if (content.name === '') return { status: 400 };
      const refused = isGroupsync ? refusalOf(body) : undefined;
      if (refused !== undefined) return { status: refused };
      const users = isGroupsync ? withInstaller(keptUsers(content.users, [])) : content.users;
      const { group, change } = rules.createdGroup(
        { ...content, name: nameOf(content.name), spokeId: spokeIdOf(content.spokeId), users },
        newId,
      );
      const origin = { createdAtMs: clock(), madeBy: isGroupsync ? 'us' : 'client' } as const;
      return note('create', { group: hold(group, origin), change }, author, body);
    },

    change(method: 'PUT' | 'PATCH', id: string, body: WriteBody, author: Author): Written {
      const known = held.get(id);
      if (known === undefined) return { status: 404 };
      if (rules.isStale(method, known, body.version, traits.enforceVersionOnPatch)) {
        runLog.fired('trait:staleStatus');
        return { status: traits.staleStatus, isStale: true };
      }
      const refused = refusalOf(body, known);
      if (refused !== undefined) return { status: refused };
      const wanted = rules.wantedContent(method, known, body);
      const users = body.users === undefined ? wanted.users : keptUsers(body.users, known.users);
      const [name, spokeId] = [nameOf(wanted.name), spokeIdOf(wanted.spokeId)];
      const done = put(known, { ...wanted, name, spokeId, users });
      return note(method === 'PUT' ? 'put' : 'patch', done, author, body);
    },

    remove(id: string, author: Author): Written {
      const group = held.get(id);
      if (group === undefined) return { status: 404 };
      held.delete(id);
      pasts.get(id)?.push({ sinceMs: clock() });
      return note('delete', { group, change: rules.DELETED }, author, {});
    },

    /** Changes a group for another client. No platform fault affects this change. @returns whether the group changed */
    edit(id: string, contentOf: (known: HeldGroup) => Partial<rules.GroupContent>, author: Author): boolean {
      const known = held.get(id);
      if (known === undefined) return false;
      const sent = contentOf(known);
      const content = { ...known, ...sent };
      const done = put(known, { ...content, name: rules.keptName(content.name, traits.names) });
      if (done.change !== undefined) note('patch', done, author, sent);
      return done.change !== undefined;
    },

    /** Adds a group that existed before the run. The feed does not show its creation. */
    seed: (content: rules.GroupContent): HeldGroup =>
      hold(rules.createdGroup(content, newId).group, { createdAtMs: 0, madeBy: 'client' }),
  };
}
