import { createHash } from 'node:crypto';
import type { Hold } from '../../domain/hold.ts';
import type { GroupRef, PlatformGroupId, VersionToken } from '../../domain/ids.ts';
import type { PlanAction, PlanChange } from '../../plan/plan.ts';
import { openPlatform } from '../open-platform.ts';
import type { ApplyPorts, RehearsalStores } from '../ports/bundles.ts';
import type { GroupState, GroupStore } from '../ports/groups.ts';
import type { AuditEntry, AuditedChange, AuditLog } from '../ports/logs.ts';
import { type Platform, PlatformFailure, type Platforms } from '../ports/platform.ts';
import { MAX_CONFLICTS } from '../tuning.ts';
import { type CarryOut, converge } from './converge.ts';
import { execute } from './execute.ts';
import type { Lane } from './lane.ts';
import { settleIntent } from './settle-intent.ts';
import type { Step } from './step.ts';

/** What apply would do to one group if it ran now. */
export interface GroupPlan {
  readonly group: string;
  /** `hold`: nothing can be written, because the guard stops all that is left. */
  readonly action: PlanAction | 'hold';
  /** What would be written; with `hold`, the removals that are stopped. */
  readonly changes: readonly AuditedChange[];
  /** Removals that the guard stops while the rest is written. */
  readonly held: readonly string[];
  readonly hold: Hold | null;
  /** Of a hold: what an approval names. Otherwise of the action and its changes. */
  readonly digest: string;
  /** Why nothing would be done, where that is not simply because all is in step. */
  readonly note: string | null;
}

/** As many rounds as apply itself would take. */
const MAX_ROUNDS = 3 * MAX_CONFLICTS;

interface Drafted {
  plan?: { readonly action: PlanAction; readonly changes: readonly PlanChange[] };
  held: readonly string[];
  /** Why the platform could not be asked whether its group is still as we know it. */
  unseen?: string;
}

export interface PlanPorts extends Omit<ApplyPorts, keyof RehearsalStores | 'applyQueue' | 'deadLetters'> {
  /** The stores as they are now, keeping every write to themselves. */
  readonly rehearse: () => RehearsalStores;
}

/**
 * What apply would do to a group: apply's own rounds over stores that keep every write to themselves, up to the first
 * write that the platform would take. Whether it would is asked first, as a stale version makes apply look again and
 * plan anew; where the platform cannot be asked, the plan is drawn from what was last seen, and says so.
 * @throws PlatformFailure where apply itself would have to look before it plans, and cannot
 */
export async function planGroup(ref: GroupRef, ports: PlanPorts): Promise<GroupPlan> {
  const connection = await ports.connections.find(ref.connection);
  const stores = ports.rehearse();
  if (connection === undefined || (await stores.groups.read(ref)) === undefined) {
    return planOf(ref, 'none', { note: 'there is no such group' });
  }
  const drafted: Drafted = { held: [] };
  const audited: AuditEntry[] = [];
  const lane: Lane = {
    connection,
    platform: stagePlatform(() => openPlatform(connection, ports), drafted),
    ports: { ...ports, ...stores, ...SILENT, audit: listening(stores.audit, audited) },
    found: () => {},
  };
  const last = await rehearse(ref, lane, drafted);
  return conclude(ref, { drafted, groups: stores.groups, audited, last });
}

/** Nobody is woken or told by a rehearsal. */
const SILENT: Pick<ApplyPorts, 'applyQueue' | 'deadLetters'> = {
  applyQueue: { wake: async () => [] },
  deadLetters: { bury: async () => [] },
};

const listening = (audit: AuditLog, audited: AuditEntry[]): AuditLog => ({
  read: (ref) => audit.read(ref),
  record: async (_, entry) => {
    audited.push(entry);
  },
});

async function rehearse(ref: GroupRef, lane: Lane, drafted: Drafted): Promise<Step | undefined> {
  const draft: CarryOut = (plan, execution) => {
    drafted.plan = plan;
    drafted.held = [...execution.guarded.held];
    return execute(plan, execution);
  };
  try {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const state = await lane.ports.groups.read(ref);
      if (state === undefined) return undefined;
      delete drafted.plan;
      const step = await takeStep(state, lane, draft);
      if (step.kind !== 'again' && step.kind !== 'conflict') return step;
    }
  } catch (error) {
    if (!(error instanceof WouldWrite)) throw error;
  }
  return undefined;
}

/** The platform would have been written to here, and would have taken it. */
class WouldWrite extends Error {}

async function takeStep(state: GroupState, lane: Lane, draft: CarryOut): Promise<Step> {
  if (state.intent === undefined) return converge(state, lane, draft);
  const settlement = await settleIntent(state, state.intent, lane);
  return settlement.kind === 'settled' ? { kind: 'again' } : settlement;
}

interface Conclusion {
  readonly drafted: Drafted;
  readonly groups: GroupStore;
  readonly audited: readonly AuditEntry[];
  readonly last: Step | undefined;
}

async function conclude(ref: GroupRef, { drafted, groups, audited, last }: Conclusion): Promise<GroupPlan> {
  const state = await groups.read(ref);
  const { hold } = state ?? {};
  const { plan } = drafted;
  if (plan !== undefined) {
    const { action, changes } = plan;
    return planOf(ref, action, {
      changes,
      held: drafted.held,
      hold: drafted.held.length > 0 ? hold : undefined,
    });
  }
  const released = audited.find(({ action }) => action === 'release');
  if (released !== undefined) return planOf(ref, 'release', { changes: released.changes });
  if (last?.kind === 'wait') {
    return planOf(ref, 'none', {
      note: last.error?.message ?? 'waits for the platform to show the outcome of an earlier write',
    });
  }
  if (state !== undefined && hold !== undefined && hold.decision.kind !== 'approved') {
    const users = (await groups.readHeld(ref, hold)) ?? [];
    const changes = [...users].sort().map((user) => stopped(user, hold));
    return planOf(ref, 'hold', { changes, hold, held: [...users].sort() });
  }
  return planOf(ref, 'none', state?.released === true ? { note: 'a person let go of this group' } : {});
}

const stopped = (user: string, { rule }: Hold): AuditedChange => ({
  kind: 'remove_member',
  member: null,
  before: user,
  after: null,
  reason: `stopped by the guard (${rule}), until a person approves`,
});

function planOf(
  ref: GroupRef,
  action: GroupPlan['action'],
  {
    changes = [],
    held = [],
    hold,
    note = null,
  }: Partial<Pick<GroupPlan, 'changes' | 'held' | 'note'>> & { readonly hold?: Hold | undefined },
): GroupPlan {
  const digest = action === 'hold' && hold !== undefined ? hold.digest : digestOf(action, changes);
  return { group: ref.group, action, changes, held, hold: hold ?? null, digest, note };
}

const digestOf = (action: string, changes: readonly AuditedChange[]): string =>
  createHash('sha256')
    .update(JSON.stringify([action, changes.map(({ kind, before, after }) => [kind, before, after])]))
    .digest('hex');

/** Opened when first asked: a group that is in step needs no look at the platform, so its plan needs no credential. */
function stagePlatform(open: () => ReturnType<Platforms['open']>, drafted: Drafted): Platform {
  let opened: Promise<Platform> | undefined;
  const platform = () => {
    opened ??= open();
    return opened;
  };
  const refuse = (): never => {
    throw new Error('a rehearsal only looks at groups');
  };
  const write = async (id?: PlatformGroupId, version?: VersionToken): Promise<never> => {
    const observed = id === undefined ? undefined : await look(id);
    if (observed !== undefined && version !== undefined && observed.version !== version) {
      throw new PlatformFailure('rejected', 'the platform has another version by now', {});
    }
    throw new WouldWrite();
  };
  const look = async (id: PlatformGroupId) => {
    try {
      return await (await platform()).groups.get(id);
    } catch (error) {
      if (!(error instanceof PlatformFailure)) throw error;
      drafted.unseen = error.message;
      return undefined;
    }
  };
  return {
    secretVersion: '',
    probe: refuse,
    employees: refuse,
    employee: refuse,
    activity: refuse,
    groups: {
      list: async (maxAgeMs) => (await platform()).groups.list(maxAgeMs),
      get: async (id) => (await platform()).groups.get(id),
      create: () => write(),
      patch: (id, _, version) => write(id, version),
      put: (id, _, version) => write(id, version),
      delete: () => write(),
    },
  };
}
