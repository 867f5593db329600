import { any, equal, type Item, less, missing, type Table } from '../shared/store/table.ts';
import { type Platform, PlatformFailure } from '../shared/sync/ports/platform.ts';
import { allStoresOver } from './engine.ts';
import { READER_BUGS } from './reader/bugs.ts';
import type { WrapPorts } from './lambdas.ts';
import found from './seeded-bugs-found.json' with { type: 'json' };
import { at, type Bug } from './seeding.ts';

/**
 * A bug that the simulation must find. It replaces methods of a port. Some existed earlier and were fixed, others are
 * invented.
 */
export interface SeededBug {
  readonly name: string;
  /** A sentence that describes the defect. */
  readonly what: string;
  readonly wrapPorts: WrapPorts;
  /** A regular expression. A run can show the bug only if the JSON of the run matches it. */
  readonly needs: string;
  /** True if the bug appears only in a run with a directory that is read. */
  readonly isOfReader: boolean;
}

/** Replaces some methods of the platform client. */
const atPlatform = (change: (platform: Platform) => Partial<Platform>): WrapPorts =>
  at('platforms', (platforms) => ({
    open: async (...asked) => {
      const platform = await platforms.open(...asked);
      return { ...platform, ...change(platform) };
    },
  }));

const atGroups = (change: (groups: Platform['groups']) => Partial<Platform['groups']>): WrapPorts =>
  atPlatform(({ groups }) => ({ groups: { ...groups, ...change(groups) } }));

/** Replaces methods of the table. All stores use the changed table. */
const atTable =
  (change: (table: Table) => Partial<Table>): WrapPorts =>
  (ports) => {
    const table = { ...ports.table, ...change(ports.table) };
    return { ...ports, ...allStoresOver(table, 30), table };
  };

const BUGS: Readonly<Record<string, Bug>> = {
  // ── bugs that were fixed ───────────────────────────────────────────────────────────────────────────────────────
  gives_up: [
    'apply marks a group as failed after twenty attempts',
    at('groups', (groups) => ({
      postpone: async (seen, how) => {
        const state = how.attempts < 20 ? undefined : await groups.read(seen.ref);
        const error = { ...how.error, code: 'retries_exhausted', reported: '' };
        if (state !== undefined && (await groups.fail(state, error, ''))) return undefined;
        return groups.postpone(seen, how);
      },
    })),
    '"writes_',
  ],
  believes_its_write: [
    'apply ignores the answer to a PATCH and stores the sent fields',
    atGroups((groups) => ({
      patch: async (id, fields, version) => ({ ...(await groups.patch(id, fields, version)), ...fields }),
    })),
    '"drops_users"',
  ],
  hold_ends: [
    'a hold without a decision counts as approved after a day',
    at('groups', (groups, ports) => ({
      read: async (ref) => {
        const state = await groups.read(ref);
        const { hold, ...others } = state ?? {};
        if (state === undefined || hold === undefined || ports.clock() - hold.createdAtMs < 86_400_000)
          return state;
        const decision = { kind: 'approved', by: 'no-operator', reason: 'a day', atMs: ports.clock() };
        return { ...others, approval: { ...hold, decision } } as typeof state;
      },
    })),
  ],
  dead_letters_are_cut: [
    'only the first five characters of a refused message reach the dead-letter queue',
    at('deadLetters', (deadLetters) => ({
      send: (all) =>
        deadLetters.send(all.map((deadLetter) => ({ ...deadLetter, body: deadLetter.body.slice(0, 5) }))),
    })),
    '"rubbish"',
  ],
  tokens_survive: [
    'the SCIM tokens of a removed connection stay valid',
    at('tokens', () => ({ revoke: async () => undefined as never })),
    'remove_connection.*scim_request',
  ],
  odd_list_fails: [
    'a malformed group of another client makes every list fail',
    atGroups((groups) => ({
      list: async (maxAgeMs) => {
        const listed = await groups.list(maxAgeMs);
        if (listed.every((group) => 'name' in group && group.name !== null)) return listed;
        throw new PlatformFailure('unavailable', 'expected a name', { status: 200 });
      },
    })),
    '"list_shows_odd_group"',
  ],
  names_forgotten: [
    'apply forgets how the platform changed a name, and sends the name again',
    at('groups', (groups) => ({
      readView: async (...asked) => {
        const view = await groups.readView(...asked);
        return (
          view && {
            name: view.name,
            spokeId: view.spokeId,
            users: view.users,
            ...(view.acceptedDrift && { acceptedDrift: view.acceptedDrift }),
          }
        );
      },
    })),
  ],
  no_backoff: [
    'apply retries a failed group after two seconds each time',
    at('groups', (groups, ports) => ({
      postpone: (seen, how) =>
        groups.postpone(seen, { ...how, calledMs: [], retryAtMs: ports.clock() + 2_000 }),
    })),
    '"writes_',
  ],
  gone_at_once: [
    'apply believes a 404 for a group although the list shows the group',
    atGroups((groups) => {
      const gone = new Set<string>();
      const get: typeof groups.get = async (id, how) => {
        const found = await groups.get(id, how);
        if (found === undefined) gone.add(id);
        return found;
      };
      return { get, list: async (ageMs) => (await groups.list(ageMs)).filter(({ id }) => !gone.has(id)) };
    }),
    '"get_denies"',
  ],
  answers_believed: [
    'apply accepts an answer that contains another group',
    atGroups((groups) => ({
      get: async (id) => groups.get(id).then((found) => found && { ...found, id }),
      patch: async (id, ...asked) => ({ ...(await groups.patch(id, ...asked)), id }),
      put: async (id, ...asked) => ({ ...(await groups.put(id, ...asked)), id }),
    })),
    '"answers_other_group"',
  ],
  links_given_up: [
    'apply creates a group again after a 404, however many groups answer 404',
    (ports, actor) => {
      const storeObserved = at('groups', (groups) => ({
        storeObserved: (seen, base) => groups.storeObserved(seen, base, {}),
      }));
      return at('guard', () => ({ unlink: async () => 0 }))(storeObserved(ports, actor), actor);
    },
    '"wrong_route"',
  ],
  retry_after_believed: [
    'a Retry-After of more than a quarter of an hour closes the gate for a year',
    at('gates', (gates, { clock }) => ({
      write: (name, seen, next) => {
        const isLongest = next.state === 'backoff' && (next.untilMs ?? 0) - clock() === 900_000;
        return gates.write(name, seen, isLongest ? { ...next, untilMs: clock() + 31_536_000_000 } : next);
      },
    })),
    '"7200"',
  ],
  refused_asked_always: [
    'groupsync retries a refused credential each minute',
    at('gates', (gates, { clock }) => ({
      write: (name, seen, next) =>
        gates.write(name, seen, next.state === 'unauthorized' ? { ...next, untilMs: clock() } : next),
    })),
    '"token_revoked"',
  ],
  actions_unrecorded: [
    'actions of operators leave no audit entry',
    at('audit', (_, _ports, actor) => (actor === 'operator' ? { record: async () => 'lost' } : {})),
  ],
  names_are_free: [
    'another company may use the name of a removed connection',
    at('connections', () => ({ companyOf: async () => undefined })),
    '"remove_connection"',
  ],
  // ── invented bugs ─────────────────────────────────────────────────────────────────────────────────────────────────
  no_claims: [
    'two directory groups can claim the same platform group',
    at('claims', () => ({ claim: async () => true })),
    '"company":"([^"]*)".*"company":"\\1"',
  ],
  claims_stay: ['a claim is never deleted', at('claims', () => ({ retire: async () => {} }))],
  no_audit: ['writes leave no audit entry', at('audit', () => ({ record: async () => 'lost' }))],
  guard_looks_away: [
    'the guard does not count earlier removals',
    at('guard', (guard) => ({
      reserve: async (...asked) => {
        await guard.reserve(...asked);
        return { group: 0, connection: 0, largestSize: 0, concurrent: 0, deleted: new Set() };
      },
    })),
  ],
  gate_ignored: [
    'apply writes although the gate is closed',
    at('gates', (gates, _, actor) => ({
      read: async (name) =>
        actor === 'apply' ? { ...(await gates.read(name)), state: 'open' } : gates.read(name),
    })),
    '"pause',
  ],
  rev_ignored: [
    'a change that arrives during a write is marked as written',
    at('groups', (groups) => ({
      commit: async (ref, commit) =>
        groups.commit(ref, { ...commit, seen: (await groups.read(ref)) ?? commit.seen }),
    })),
    '"coalesceSeconds":0',
  ],
  memberships_unnoted: [
    'the groups of a member are not recorded, so no user fan-out finds the groups',
    at('desired', (desired) => ({
      noteMembership: async () => {},
      joinNew: async (ref, entries, nowMs) => {
        for (const entry of entries) await desired.joinMember(ref, entry, nowMs);
      },
    })),
  ],
  walks_end_early: [
    'the fan-out of a changed user wakes no group',
    at('users', () => ({ groupsOf: async function* () {} })),
  ],
  wakes_lost: [
    'one change in four does not mark its group dirty and wakes no worker',
    at('desired', (desired, ports) => ({
      markDirty: async (ref, when, said) =>
        ports.random() < 0.25
          ? { wakeAtMs: when.nowMs, lastWriteAtMs: undefined, paused: true, isContained: false }
          : desired.markDirty(ref, when, said),
    })),
  ],
  pump_sleeps: ['the requeue job finds no group', at('index', () => ({ due: async () => [] }))],
  pending_forgotten: [
    'members without a match are never matched again',
    at('index', () => ({ pending: async function* () {} })),
  ],
  views_lost: [
    'one stored view in five is read without its users',
    at('groups', (groups, ports) => ({
      readView: async (...asked) => {
        const view = await groups.readView(...asked);
        return view && ports.random() < 0.2 ? { ...view, users: new Map() } : view;
      },
    })),
  ],
  lists_end_early: [
    'a list of groups contains only the first five',
    atGroups((groups) => ({ list: async (maxAgeMs) => (await groups.list(maxAgeMs)).slice(0, 5) })),
  ],
  posts_twice: [
    'apply repeats a POST that got no answer',
    atGroups((groups) => ({ create: (fields) => groups.create(fields).catch(() => groups.create(fields)) })),
    '"loses_answers"',
  ],
  deletes_skipped: [
    'apply does not send the deletion of a group',
    atGroups(() => ({ delete: async () => 'deleted' as const })),
  ],
  leavers_stay: [
    'a person who left is stored as active',
    at('people', (people) => ({
      save: (connection, facts, seen) => people.save(connection, { ...facts, state: 'ACTIVE' }, seen),
    })),
  ],
  tombstones_lost: [
    'three leaves in ten are not stored',
    at('desired', (desired, ports) => ({
      joinMember: async (ref, entry, nowMs) => {
        if (entry.register.value === 'absent' && ports.random() < 0.3) return undefined;
        return desired.joinMember(ref, entry, nowMs);
      },
    })),
  ],
  floors_lost: [
    'the deletion of a directory group does not end its memberships',
    at('desired', (desired) => ({
      markDirty: (ref, when, said) =>
        desired.markDirty(ref, when, said && { ...said, deleted: '' as never, snapshot: '' as never }),
    })),
  ],
  drift_unrecorded: [
    'an external change is reverted without a drift record',
    at('drift', () => ({ record: async () => true })),
  ],
  feed_deaf: [
    'external changes in the feed are ignored',
    at('groups', () => ({ noteSuspected: async () => false })),
  ],
  hour_forgotten: [
    'the guard does not add up the writes of one group',
    at('guard', (guard) => ({
      reserve: async (...asked) => ({ ...(await guard.reserve(...asked)), group: 0 }),
      recent: async (...asked) => ({ ...(await guard.recent(...asked)), group: 0 }),
    })),
  ],
  past_forgotten: [
    'a read that shows the group from before the last write counts as an external change',
    at('groups', (groups) => ({
      read: async (ref) => {
        const { lastWriteAtMs: _, ...state } = (await groups.read(ref)) ?? {};
        return 'ref' in state ? state : undefined;
      },
    })),
    '"getLagMs":[1-9]',
  ],
  refused_at_once: [
    'apply marks a group as failed after a single refusal',
    at('groups', (groups) => ({
      read: async (ref) => {
        const state = await groups.read(ref);
        return state && { lastError: { code: 'refused', message: '', atMs: 0 }, ...state };
      },
    })),
    '"getLagMs":[1-9]',
  ],
  // ── bugs that the invariant checks once missed ────────────────────────────────────────────────────────────────────
  wrong_actor: [
    'the audit entry of a write names a false event and a false actor',
    at('audit', (audit) => ({
      record: (ref, entry) => {
        if (!entry.cause.startsWith('event ')) return audit.record(ref, entry);
        const cause = entry.cause.replace(' of ', '-of-another of ');
        return audit.record(ref, { ...entry, cause, actor: { kind: 'directory', id: 'another' } });
      },
    })),
  ],
  present_expires: [
    'the register of a present member is deleted after 430 days',
    atTable((table) => ({
      put: (item, when) =>
        table.put(item['presence'] === 'present' ? { ...item, expiresAt: 1_900_000_000 } : item, when),
      update: (key, { set = {}, ...change }, ...how) => {
        const isPresent = set['presence'] === 'present';
        const more = isPresent ? { set: { ...set, expiresAt: 1_900_000_000 } } : { set };
        return table.update(key, { ...change, ...more, ...(isPresent && { remove: [] }) }, ...how);
      },
    })),
  ],
  scim_saves_blindly: [
    'a SCIM request overwrites a change that another request made at the same time',
    atTable((table) => ({
      update: (key, change, ...[when, ...how]) => {
        const isSave = key.pk.startsWith('S#') && change.set?.['revision'] !== undefined;
        return table.update(key, change, isSave ? undefined : when, ...how);
      },
    })),
    '"way":{"form":"scim_request","time":"none","lateMs":[1-9]',
  ],
  marked_once: [
    'changed settings do not reach a group that the index does not show yet',
    at('index', (index, _, actor) => ({
      async *all(connection, which) {
        if (actor !== 'pump' || which !== undefined) yield* index.all(connection, which);
      },
    })),
    // This pattern selects the seeds with a late index: every fourth run.
    '"seed":(?:[37]|[0-9]*(?:[02468][37]|[13579][159])),.*"group":"new-',
  ],
  levels_lie: [
    'the levels report no waiting, held or failed group',
    at('index', (index, { clock }) => ({
      async *all(connection, which) {
        for await (const page of index.all(connection, which)) {
          const lying = page.map(({ failedAtMs: _, dirtySinceMs, ...one }) => {
            const since = dirtySinceMs === undefined ? {} : { dirtySinceMs: clock() };
            return { ...one, ...since, holdWaits: false };
          });
          yield which === 'unsettled' ? lying : page;
        }
      },
    })),
  ],
  holds_unlisted: [
    'holds are missing from the list of holds',
    at('index', (index) => ({
      async *all(connection, which) {
        for await (const page of index.all(connection, which))
          yield which === undefined ? page.map((one) => ({ ...one, hasHolds: false })) : page;
      },
    })),
  ],
  health_hidden: [
    'a failed check of the credential is stored as successful',
    at('health', (health) => ({
      write: (connection, { lastFailure: _, ...checked }) =>
        health.write(connection, { ...checked, goodAtMs: checked.checkedAtMs }),
    })),
    '"platformFault":"token_revoked","forMs":3600000',
  ],
  forget_keeps: [
    'the erasure of a person keeps the attributes of the member',
    atTable((table) => ({
      put: async (item, when) => {
        if (item.sk !== 'USER' || item['erasedMs'] === undefined) return table.put(item, when);
        const { attributes = item['attributes'] } = ((await table.get(item)) ?? {}) as Partial<Item>;
        return table.put({ ...item, attributes } as Item, when);
      },
    })),
    '"kind":"forget","member":"[ph][0-9]+"}}',
  ],
  ties_by_arrival: [
    'of two values with equal stamps, the one that arrives later wins',
    atTable((table) => ({
      update: (key, change, ...[when, ...how]) => {
        const { stamp, presence } = change.set ?? {};
        if (typeof stamp !== 'string' || presence === undefined)
          return table.update(key, change, when, ...how);
        const isNews = any(missing('stamp'), less('stamp', stamp), equal('stamp', stamp));
        return table.update(key, change, isNews, ...how);
      },
    })),
    '"eventId":"tied',
  ],
  user_change_unheard: [
    'a new user id of an employee is ignored',
    at('people', (people) => ({
      save: (connection, { userId, ...facts }, seen) => {
        const known = seen?.userId ?? userId;
        return people.save(connection, { ...facts, ...(known !== undefined && { userId: known }) }, seen);
      },
    })),
    '"change_user_id"',
  ],
  stranger_writes: [
    'a PUT is sent to the wrong platform group',
    atGroups((groups) => ({
      put: async (id, fields, version) => {
        const other = (await groups.list(60_000)).find((group) => group.id !== id);
        if (other === undefined || !('version' in other)) return groups.put(id, fields, version);
        return groups.put(other.id as never, fields, other.version as never);
      },
    })),
  ],
};

export const SEEDED_BUGS: readonly SeededBug[] = Object.entries({ ...BUGS, ...READER_BUGS }).map(
  ([name, [what, wrapPorts, needs = '']]) => ({
    name,
    what,
    wrapPorts,
    needs,
    isOfReader: name in READER_BUGS,
  }),
);

/**
 * By bug: the first run that found the bug, and the number of runs before it. The next search (`--planted`) begins with
 * this run.
 */
export const FOUND = found as unknown as Readonly<Record<string, readonly [seed: number, runs: number]>>;

export const seededBugNamed = (name: string | undefined): WrapPorts | undefined =>
  SEEDED_BUGS.find((one) => one.name === name)?.wrapPorts;
