import type { GroupRef } from '../../domain/ids.ts';
import type { AuditEntry } from '../ports/audit.ts';
import type { GroupState } from '../ports/groups.ts';
import type { GuardStore, HeldSet } from '../ports/holds.ts';
import type { ApplyPorts } from './ports.ts';
import { stageGroup } from './stage-group.ts';

/** What a rehearsal would have left behind. */
export interface Rehearsal {
  readonly ports: ApplyPorts;
  /** The group as the rehearsal has left it so far. */
  readonly state: () => Promise<GroupState | undefined>;
  /** The removals that the rehearsal would have put on hold. */
  readonly held: () => HeldSet | undefined;
  readonly audited: readonly AuditEntry[];
}

const nothing = async (): Promise<void> => {};

/**
 * Ports for one group that read the world and keep to themselves whatever would be written, so that the very code that
 * applies can be asked what it would do. A method that is neither named as a read nor played here throws: a port that
 * gains a way to write cannot be written to by a dry run.
 */
export function rehearsalOf(ref: GroupRef, real: ApplyPorts): Rehearsal {
  const audited: AuditEntry[] = [];
  const stage = stageGroup(ref, real);
  const ports: ApplyPorts = {
    groups: onlyReading(real.groups, ['members', 'readMany', 'registers'], stage.played),
    users: onlyReading(real.users, ['read', 'groupsOf', 'openWalks'], {
      copyToMember: nothing,
      renewCopy: nothing,
    }),
    people: onlyReading(real.people, ['read', 'holding', 'membersBoundTo'], {
      bind: async (_connection, _member, { role }) => role,
    }),
    claims: onlyReading(real.claims, ['owners'], {
      claim: async (company, id, owner) => {
        const current = (await real.claims.owners(company, [id])).get(id);
        return (
          current === undefined || (current.connection === owner.connection && current.group === owner.group)
        );
      },
      drop: nothing,
    }),
    guard: onlyReading(real.guard, ['recent'], stageGuard(real.guard)),
    gates: onlyReading(real.gates, ['read'], {}),
    audit: onlyReading(real.audit, ['read'], {
      record: async (_, entry) => {
        audited.push(entry);
      },
    }),
    drift: onlyReading(real.drift, ['list', 'ofGroup', 'since'], {
      record: async () => false,
      settle: nothing,
      attribute: nothing,
    }),
    connections: real.connections,
    platforms: real.platforms,
    applyQueue: { wake: async () => [] },
    deadLetters: { bury: async () => [] },
    clock: real.clock,
    newId: real.newId,
    random: real.random,
    createSettleMs: real.createSettleMs,
  };
  return { ports, state: stage.state, held: stage.held, audited };
}

/** What an earlier round of the rehearsal has reserved counts in the next, as it would in truth. */
function stageGuard(guard: GuardStore): Partial<GuardStore> {
  const reserved = new Map<string, number>();
  return {
    reserve: async ({ connection, group, intent, atMs, removals }, instead) => {
      if (instead !== undefined) reserved.delete(instead.intent);
      const recent = await guard.recent({ connection, group }, atMs, instead);
      const own = [...reserved.values()].reduce((sum, count) => sum + count, 0);
      reserved.set(intent, removals);
      return { group: recent.group + own, connection: recent.connection + own };
    },
    cancel: async ({ intent }) => {
      reserved.delete(intent);
    },
  };
}

function onlyReading<Port extends object>(
  port: Port,
  reads: readonly (keyof Port)[],
  played: Partial<Port>,
): Port {
  return new Proxy(port, {
    get(target, name) {
      const key = name as keyof Port;
      if (played[key] !== undefined) return played[key];
      if (reads.includes(key)) return target[key];
      return () => {
        throw new Error(`a rehearsal does not know what to make of ${String(name)}`);
      };
    },
  });
}
