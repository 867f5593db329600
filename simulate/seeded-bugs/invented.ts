import { isDeepStrictEqual } from 'node:util';
import { readStamp } from '../../shared/domain/stamp.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import type { WrapPorts } from '../lambdas.ts';
import { at, atGroups, type Bug } from '../seeding.ts';

type Blocks = NonNullable<Connection['blocks']>;

/** Changes the blocks that apply reads. */
function atBlocks(change: (blocks: Blocks) => Blocks): WrapPorts {
  const changed = (connection: Connection | undefined) =>
    connection?.blocks ? { ...connection, blocks: change(connection.blocks) } : connection;
  return at('connections', (connections, _, actor) =>
    actor === 'apply'
      ? {
          find: async (name) => changed(await connections.find(name)),
          current: async (name) => changed(await connections.current(name)),
        }
      : {},
  );
}

const PAUSED = { lastWriteAtMs: undefined, paused: true, isContained: false };

export const INVENTED_BUGS: Readonly<Record<string, Bug>> = {
  no_claims: [
    'two directory groups can claim the same platform group',
    at('claims', () => ({ claim: async () => true })),
    '"company":"([^"]*)".*"company":"\\1"',
  ],
  claims_stay: ['a claim is never deleted', at('claims', () => ({ retire: async () => {} }))],
  no_audit: ['writes leave no audit entry', at('audit', () => ({ record: async () => 'lost' }))],
  block_ignored: ['a block is ignored in apply', atBlocks(() => []), '"kind":"block"'],
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
    "the list of a member's groups is not stored, so a user fan-out finds no group",
    at('desired', (desired) => ({
      noteMembership: async () => {},
      joinNew: async (ref, entries, nowMs) => {
        for (const entry of entries) await desired.joinMember(ref, entry, nowMs);
      },
    })),
  ],
  wakes_lost: [
    'one change in four does not mark its group dirty and wakes no worker',
    at('desired', (desired, ports) => ({
      markDirty: async (ref, when, said) =>
        ports.random() < 0.25
          ? { wakeAtMs: when.nowMs, wakeIsSent: true, ...PAUSED }
          : desired.markDirty(ref, when, said),
    })),
  ],
  pump_sleeps: ['the requeue job never finds a waiting group', at('index', () => ({ due: async () => [] }))],
  pending_forgotten: [
    'groupsync never repeats the match of a member without a person',
    at('index', () => ({ pending: async function* () {} })),
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
    'the guard does not add up several writes to one group',
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
  requests_outlast: [
    'a request that a second person must confirm stays valid after another change of its setting',
    at('connections', (connections) => ({
      replace(next, seen) {
        const { requests = [] } = next;
        const settings: Readonly<Record<string, unknown>> = next.settings;
        const isOpen = ({ key, value }: (typeof requests)[number]) =>
          !requests.some((one) => one.key === key) && !isDeepStrictEqual(settings[key], value);
        return connections.replace(
          { ...next, requests: [...requests, ...(seen?.requests ?? []).filter(isOpen)] },
          seen,
        );
      },
    })),
    '"value":2},"by".*"fourEyes":true|"fourEyes":true.*"value":2}',
  ],
  undo_partly: [
    'the undo of an import leaves the members that the import added',
    at('audit', ({ usersOf }) => ({
      usersOf: async (ref, entry) =>
        (await usersOf(ref, entry))?.filter(({ is }) => ref.group !== '' || is !== '+'),
    })),
    '"undo_import"',
  ],
  moment_misread: [
    'the undo of a moment does not bring back the users that groupsync has removed since',
    at('audit', ({ usersOf }) => ({
      usersOf: async (...asked) => (await usersOf(...asked))?.filter(({ is }) => is !== '-'),
    })),
    '"kind":"undo"',
  ],
  imports_unsigned: [
    'groupsync does not know who sent an import or an undo, so this person may approve its removals',
    at('groups', ({ members }) => ({
      members: async (ref) =>
        (await members(ref)).map((register) => {
          const { actor: _, author: __, ...unsigned } = register;
          const { source = '' } = readStamp(register.stamp) ?? {};
          return /^groupsync.(?:import|undo)$/.test(source) ? unsigned : register;
        }),
    })),
    '"fourEyes":true.*"kind":"(?:import|undo)',
  ],
  others_unproven: [
    'the past treats a change of another client as a change of groupsync',
    at('audit', ({ usersOf }) => ({
      usersOf: async (...asked) => (await usersOf(...asked))?.map((one) => ({ ...one, isOwn: true })),
    })),
    '"actor":"client"',
  ],
};
