import type { DriftKind } from '../../domain/drift.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { IntentId } from '../../domain/ids.ts';
import { once } from '../../domain/once.ts';
import { decide } from '../../plan/decide/index.ts';
import { type Decision, readsGroup, readsList } from '../../plan/decision.ts';
import type { Shown } from '../../plan/facts.ts';
import { claimGroup } from '../claim-group.ts';
import { openPlatform } from '../open-platform.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { type AuditLink, linksOf } from '../ports/logs.ts';
import { PlatformFailure } from '../ports/platform.ts';
import { CALLS_AN_HOUR, calledOf } from '../tuning.ts';
import type { ApplyContext, Bisection, PassFacts, PassResult, Performed, WriteMade } from './context.ts';
import { NO_BISECTION } from './context.ts';
import { ALL_MEMBERS, startOf } from './load.ts';
import { perform } from './perform.ts';
import { unreserved } from './write.ts';

export interface Attempt {
  readonly writes: WriteMade[];
  readonly drift: DriftKind[];
  conflicts: number;
  callsMs?: readonly number[];
  bisection: Bisection;
  shown?: Shown | undefined;
  mine?: IntentId;
  /**
   * Whether another worker changed the group during the last pass. Another pass then follows, because there may be no
   * message about the change.
   */
  isSuperseded: boolean;
  /** Whether a pass of this attempt had to read the group: it began with an open intent or a suspected change. */
  hasFetched: boolean;
  /** Whether the platform has refused a write because of its content or version. Such a platform is available. */
  hasRefused: boolean;
  audited?: AuditLink;
  /** The last audit entry, if neither the group's item nor a later entry names it. */
  unnamed?: AuditLink | undefined;
}

/** The maximum number of times that the client sends one call. */
const MAX_TRIES = 4;
/** The number of calls that must be left to perform a decision. A write needs two, because a fetch may follow it. */
const COST: Partial<Record<Decision['kind'], number>> = { write: 2, adopt: 1, unlink: 1 };
/** The decisions that need only the members of the last change. A read of the list still needs all members. */
const SERVED_BY_PART: ReadonlySet<Decision['kind']> = new Set(['read', 'reserve', 'write', 'settle']);
export const SPENT = { code: 'waiting', message: 'the hourly limit of calls for this group is reached' };

/** The results after which the group's item does not name the last audit entry. */
const UNNAMED: ReadonlySet<PassResult['kind']> = new Set(['superseded', 'narrowed', 'wait', 'broken']);

function noteNamed(performed: Performed, before: Attempt['unnamed'], attempt: Attempt): void {
  const isNamed = 'facts' in performed || !UNNAMED.has(performed.result.kind);
  if (isNamed && attempt.unnamed !== before) attempt.unnamed = undefined;
}

/** Decides and performs until the pass ends. Decisions use the item from its beginning and the pass's own changes. */
export async function runPass(
  state: GroupState,
  connection: Connection,
  ports: ApplyPorts,
  attempt: Attempt,
): Promise<PassResult> {
  try {
    const context = await contextOf(state, connection, ports, attempt);
    return await decideAndPerform(initialFacts(state, context, attempt), context, attempt);
  } catch (cause) {
    if (cause instanceof SettingsChanged) return { kind: 'again' };
    if (cause instanceof PlatformFailure) return { kind: 'broken', cause };
    throw cause;
  }
}

async function decideAndPerform(
  first: PassFacts,
  context: ConfirmingContext,
  attempt: Attempt,
): Promise<PassResult> {
  let facts = first;
  for (;;) {
    const decision = servedBy(facts.wanted, decide(facts));
    if (decision === ALL_MEMBERS) facts = { ...facts, wanted: undefined };
    if (callsLeft(attempt, context.ports) < costOf(decision)) return spend(facts, context);
    if (!readsTable(decision)) await context.confirm();
    const { unnamed } = attempt;
    const performed = await perform(decision, facts, context);
    noteNamed(performed, unnamed, attempt);
    if ('result' in performed) return performed.result;
    facts = performed.facts;
    attempt.shown = facts.shown;
    // A 404 does not show that the platform is available, because it may come from a wrong base URL.
    attempt.hasRefused ||= facts.rejected !== undefined && facts.fetched !== 'gone';
  }
}

/** Ends a pass because too few calls of this hour are left. Cancels the reservation of the unsent write. */
async function spend(facts: PassFacts, context: ApplyContext): Promise<PassResult> {
  if (facts.state.intent === undefined) await unreserved(facts, context);
  return { kind: 'spent' };
}

type ConfirmingContext = ApplyContext & { readonly confirm: () => Promise<void> };

/** The attempt keeps the state that a later pass needs. */
async function contextOf(
  state: GroupState,
  connection: Connection,
  ports: ApplyPorts,
  attempt: Attempt,
): Promise<ConfirmingContext> {
  return {
    connection,
    ports,
    platform: await openCounted(state, connection, ports, attempt),
    bisection: attempt.bisection,
    calledMs: () => calledBy(attempt, ports),
    claim: (id, createdAtMs) =>
      claimGroup({ company: connection.company, id, owner: state.ref, createdAtMs }, ports),
    found: (kind) => attempt.drift.push(kind),
    confirm: once(() => confirmSettings(connection, ports)),
    record: async ({ ref, ...head }, entry) => {
      const previous = [...new Set([...(attempt.audited ? [attempt.audited] : []), ...linksOf(head)])];
      attempt.audited = await ports.audit.record(ref, { ...entry, previous });
      attempt.unnamed = attempt.audited;
      return attempt.audited;
    },
    opened: (id) => {
      attempt.mine = id;
    },
    showed: (group) => {
      attempt.shown = group;
    },
  };
}

/** Opens the platform. Calls about the group count towards its hourly limit. Reads of the list do not count. */
function openCounted({ attempts }: GroupState, connection: Connection, ports: ApplyPorts, attempt: Attempt) {
  // The client repeats a failed call, except if an earlier attempt of the group has failed. Such a group waits for its
  // next attempt instead.
  const maxAttempts = attempts > 0 ? 1 : MAX_TRIES;
  return openPlatform(connection, ports, {
    onTry() {
      // If the client renews the credential during a call, it sends the call again, and the call counts twice.
      if (callsLeft(attempt, ports) <= 0) throw new PlatformFailure('unreached', SPENT.message, {});
      attempt.callsMs = [...calledBy(attempt, ports), ports.clock()];
    },
    get maxAttempts() {
      return Math.min(maxAttempts, callsLeft(attempt, ports));
    },
  });
}

const initialFacts = (state: GroupState, context: ApplyContext, { bisection, shown }: Attempt) => ({
  ...startOf(state, context),
  withheld: new Set(bisection.withheld),
  isNarrowed: bisection !== NO_BISECTION,
  isolated: new Set(bisection.batches.flat()),
  shown,
});

const callsLeft = (attempt: Attempt, ports: ApplyPorts): number =>
  CALLS_AN_HOUR - calledBy(attempt, ports).length;

/** Returns the decision. If it needs all members and only some were read, the result is a read of all members. */
const servedBy = (wanted: PassFacts['wanted'], decision: Decision): Decision =>
  wanted?.isPart === true && !isServedByPart(decision) ? ALL_MEMBERS : decision;

const isServedByPart = (decision: Decision): boolean =>
  SERVED_BY_PART.has(decision.kind) && !readsList(decision);

const costOf = (decision: Decision): number => (readsGroup(decision) ? 1 : (COST[decision.kind] ?? 0));

const readsTable = (decision: Decision): boolean =>
  decision.kind === 'read' && !readsGroup(decision) && !readsList(decision);

export const calledBy = ({ callsMs = [] }: Attempt, { clock }: ApplyPorts): readonly number[] =>
  calledOf(callsMs, clock());

class SettingsChanged extends Error {}

/**
 * Reads the settings again after the group was read. A change of settings is stored before the groups are marked dirty.
 * If this read does not find the new settings, the mark comes after the read of the group, so the group stays dirty.
 * @throws SettingsChanged if the pass began with other settings
 */
async function confirmSettings(seen: Connection, { connections }: ApplyPorts): Promise<void> {
  const now = await connections.current(seen.name);
  if (JSON.stringify(now) !== JSON.stringify(seen)) throw new SettingsChanged();
}
