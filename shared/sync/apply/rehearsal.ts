import type { GroupRef, IntentId } from '../../domain/ids.ts';
import type { View } from '../../domain/view.ts';
import type { AuditEntry } from '../ports/audit.ts';
import type { GroupState, GroupStore, LinkedGroup } from '../ports/groups.ts';
import type { HeldSet, Hold } from '../ports/holds.ts';
import { PlatformFailure } from '../ports/platform.ts';
import type { ApplyPorts } from './ports.ts';

/** What a rehearsal would have left behind. */
export interface Rehearsed {
  readonly ports: ApplyPorts;
  /** The group as the rehearsal sees it by now. */
  readonly state: () => Promise<GroupState | undefined>;
  readonly audited: readonly AuditEntry[];
  readonly held: () => HeldSet | undefined;
}

const nothing = async (): Promise<void> => {};
const done = async (): Promise<boolean> => true;

/**
 * Ports for one group that read the world and keep to themselves whatever would be written, so that the very code that
 * applies can be asked what it would do. Each port is spelt out and none is spread: one that gains a method must say
 * here what a rehearsal makes of it, or this file no longer compiles.
 */
export function rehearsalOf(ref: GroupRef, real: ApplyPorts): Rehearsed {
  const audited: AuditEntry[] = [];
  const stage = stageGroup(ref, real);
  const { users, people, claims, connections, platforms, clock, newId, random, createSettleMs } = real;
  const ports: ApplyPorts = {
    groups: stage.groups,
    users: {
      read: users.read,
      groupsOf: users.groupsOf,
      openWalks: users.openWalks,
      join: async () => [],
      copyToMember: nothing,
      renewCopy: nothing,
      endWalk: nothing,
      ...sparing(users, 'rebind'),
    },
    people: {
      read: people.read,
      holding: people.holding,
      membersBoundTo: people.membersBoundTo,
      bind: done,
      save: done,
      heard: nothing,
    },
    claims: {
      owners: claims.owners,
      claim: async (company, id, owner) => {
        const current = (await claims.owners(company, [id])).get(id);
        return current === undefined || isSame(current, owner);
      },
      drop: nothing,
    },
    guard: {
      recent: real.guard.recent,
      reserve: ({ connection, group, atMs }) => real.guard.recent(connection, group, atMs),
      cancel: nothing,
    },
    gates: { read: real.gates.read, write: done },
    audit: {
      read: real.audit.read,
      record: async (_, entry) => {
        audited.push(entry);
      },
    },
    drift: { list: real.drift.list, record: async () => false, settle: nothing },
    connections,
    platforms,
    applyQueue: { wake: async () => [] },
    deadLetters: { bury: async () => [] },
    clock,
    newId,
    random,
    createSettleMs,
  };
  return { ports, state: stage.state, held: stage.held, audited };
}
