import type { DriftKind } from '../../domain/drift.ts';
import type { Gate } from '../../domain/gate.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { ConnectionName, GroupRef, IntentId } from '../../domain/ids.ts';
import { isAtWork, isEarly } from '../../domain/promise.ts';
import { decide } from '../../plan/decide/index.ts';
import type { Decision } from '../../plan/decision.ts';
import type { Shown } from '../../plan/facts.ts';
import { claimGroup } from '../claim-group.ts';
import { countSuccess } from '../gate.ts';
import { openPlatform } from '../open-platform.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import { type AuditLink, linksOf } from '../ports/logs.ts';
import { PlatformFailure } from '../ports/platform.ts';
import { endClaim } from '../retire-claim.ts';
import { CALLS_AN_HOUR, calledOf, MAX_CONFLICTS, MAX_REFUSALS, undoneBackoffMs } from '../tuning.ts';
import { ALL_MEMBERS, startOf } from './facts.ts';
import { handleFailure, postpone, UNACCEPTABLE } from './failure.ts';
import { isUnlinkingHeld } from './foreign.ts';
import { perform } from './perform.ts';
import type { Round, Step, Trial, Trouble, Turn, WriteMade } from './turn.ts';
import { afterWrite, isUnfinished, NO_TRIAL } from './turn.ts';
import { unreserved } from './write.ts';

export interface ApplyReport {
  readonly ref: GroupRef;
  readonly outcome:
    | 'written'
    | 'in_step'
    | 'postponed'
    | 'failed'
    | 'gate_closed'
    | 'paused'
    | 'observing'
    | 'nothing_to_do';
  readonly writes: readonly WriteMade[];
  readonly conflicts: number;
  /** Differences by somebody else that were found, by kind. */
  readonly drift: readonly DriftKind[];
  /** From when the group became dirty to the confirmation of the write, where that made it clean. */
  readonly lagMs?: number;
  /** The group answers 404, as too many do for all of them to be gone. */
  readonly unlinkingHeld?: boolean;
  /** Members who keep access because the platform refuses to remove them. */
  readonly keepAccess?: number;
  readonly cause?: unknown;
}

type Ending = Pick<ApplyReport, 'outcome' | 'lagMs' | 'cause' | 'unlinkingHeld' | 'keepAccess'>;

interface Tally {
  readonly writes: WriteMade[];
  readonly drift: DriftKind[];
  conflicts: number;
  /** When the platform was called about this group. */
  callsMs?: readonly number[];
  trial: Trial;
  /** The platform's group in the last fetch or answer. */
  shown?: Shown | undefined;
  mine?: IntentId;
  /** The platform has refused a write of this attempt because of its content, so it works. */
  hasRefused: boolean;
  /** Something came in between: unless another is at work, nobody else is woken for it. */
  isOvertaken: boolean;
  /** The newest entry of the audit that we put. */
  audited?: AuditLink;
}

/** The client's tries of one call. */
const MAX_TRIES = 4;
/** Calls about the group that must be left for a decision: a write may need a look after it. */
const COST: Partial<Record<Decision['kind'], number>> = { look: 1, write: 2, adopt: 1, unlink: 1 };
/** What can be decided by those alone whom a change is about; for anything else the others are read as well. */
const SERVED_BY_PART: ReadonlySet<Decision['kind']> = new Set(['read', 'look', 'reserve', 'write', 'settle']);
const SPENT = { code: 'waiting', message: 'the group has had all the calls that an hour allows' };

/** Every round ends in a write, a settlement or a conflict; past this many the group waits its turn again. */
const MAX_ROUNDS = 3 * MAX_CONFLICTS;

/**
 * Makes the platform show what the directory wants of one group. The message that woke us is trusted with nothing but
 * the group's name: all else is read now, and consistently.
 *
 *     group item ──▶ open intent settled ──▶ registers ──▶ resolve, plan, guard ──▶ change, intent
 *       ──▶ platform call ──▶ view ──▶ audit ──▶ flip (view pointer, version, intent cleared, dirty cleared if rev is unchanged)
 *
 * Any arrow may be the last that this process lives to see: the next apply finds the intent and settles it
 * (invariant 2).
 * @throws only where our own table or queue fails: the message then comes again.
 */
export async function applyGroup(ref: GroupRef, ports: ApplyPorts): Promise<ApplyReport> {
  const tally: Tally = {
    writes: [],
    conflicts: 0,
    drift: [],
    trial: NO_TRIAL,
    hasRefused: false,
    isOvertaken: false,
  };
  const ending = await applyInRounds(ref, ports, tally);
  const { writes, conflicts, drift } = tally;
  return { ref, ...ending, writes, conflicts, drift };
}

async function applyInRounds(ref: GroupRef, ports: ApplyPorts, tally: Tally): Promise<Ending> {
  let looked = false;
  for (let round = 0; round < MAX_ROUNDS && tally.conflicts <= MAX_CONFLICTS; round += 1) {
    const [state, gate, connection] = await Promise.all([
      ports.groups.read(ref),
      ports.gates.read(ref.connection),
      likely(ref.connection, ports),
    ]);
    if (!isForUs(state, round, ports, tally) || connection === undefined) return { outcome: 'nothing_to_do' };
    tally.callsMs ??= state.calledMs;
    const outcome = keptFrom(state, connection, gate);
    if (outcome !== undefined) return { outcome };
    await endClaim(state, connection.company, ports);
    // What no round can settle without asking the platform for the group.
    looked ||= (state.intent ?? state.suspectedChange) !== undefined;
    const step = await takeRound(state, connection, ports, tally);
    if (step.kind === 'broken') {
      const outcome = await handleFailure(state, step.cause, { ...attemptOf(tally, ports), connection });
      return { outcome, cause: step.cause };
    }
    if (step.kind === 'spent' && tally.conflicts > 0) break;
    if (hasAnswered(step, looked, tally)) await countSuccess(ref.connection, gate, ports);
    const ending = goesOn(step, tally) ? undefined : await endWith(step, state, ports, tally);
    if (ending !== undefined) return ending;
  }
  const message = `met ${tally.conflicts} conflicting changes in a row`;
  const state = await ports.groups.read(ref);
  if (state !== undefined) await postpone(state, { code: 'conflicts', message }, attemptOf(tally, ports));
  return { outcome: 'postponed' };
}

/** Not where another is at work, or it is early; what this one wrote itself is no reason to wait for the window's end. */
function isForUs(
  state: GroupState | undefined,
  round: number,
  { clock, coalesceMs }: ApplyPorts,
  { mine, isOvertaken }: Tally,
): state is GroupState {
  if (state === undefined || !needsApply(state)) return false;
  const nowMs = clock();
  return (
    !isAtWork(state, nowMs, mine) && ((round > 0 && !isOvertaken) || !isEarly(state, { nowMs, coalesceMs }))
  );
}

const attemptOf = (tally: Tally, ports: ApplyPorts) => ({
  calledMs: calledBy(tally, ports),
  mine: tally.mine,
  ports,
});

/** Whether another round follows at once; what that one has to know is kept in the tally. */
function goesOn(
  step: Step,
  tally: Tally,
): step is Extract<Step, { kind: 'again' | 'conflict' | 'overtaken' }> {
  const { trial } = tally;
  if (step.kind === 'conflict') tally.conflicts += 1;
  tally.isOvertaken = step.kind === 'overtaken';
  if (tally.isOvertaken) return true;
  if (step.kind === 'narrowed') {
    tally.trial = step.trial;
    return step.trial.refusals < MAX_REFUSALS;
  }
  if (step.kind === 'written' && isUnfinished(trial)) {
    tally.writes.push(step.write);
    tally.trial = afterWrite(trial);
    return true;
  }
  return step.kind === 'again' || step.kind === 'conflict';
}

/** Decides and performs, until the round ends: each decision rests on the group as it was read for this round. */
async function takeRound(
  state: GroupState,
  connection: Connection,
  ports: ApplyPorts,
  tally: Tally,
): Promise<Step> {
  const { trial, drift } = tally;
  const record: Turn['record'] = async ({ ref, lastAudit, lastAction }, entry) => {
    const previous = linksOf({ lastAudit: tally.audited ?? lastAudit, lastAction });
    tally.audited = await ports.audit.record(ref, { ...entry, previous });
    return tally.audited;
  };
  // The client's own repetitions are for a blip; what lasts is tried again later.
  const maxAttempts = state.attempts > 0 ? 1 : MAX_TRIES;
  const calledMs = () => calledBy(tally, ports);
  const left = () => CALLS_AN_HOUR - calledMs().length;
  try {
    const platform = await openPlatform(connection, ports, {
      onTry() {
        // A credential renewed within a call makes it two.
        if (left() <= 0) throw new PlatformFailure('unreached', SPENT.message, {});
        tally.callsMs = [...calledMs(), ports.clock()];
      },
      get maxAttempts() {
        return Math.min(maxAttempts, left());
      },
    });
    let confirmed: Promise<void> | undefined;
    const confirm = () => {
      confirmed ??= confirmSettings(connection, ports);
      return confirmed;
    };
    const turn: Turn = {
      ...{ connection, confirm, platform, ports, trial, record, calledMs },
      claim: (id) => claimGroup({ company: connection.company, id, owner: state.ref }, ports),
      found: (kind) => drift.push(kind),
      opened: (id) => {
        tally.mine = id;
      },
      showed: (group) => {
        tally.shown = group;
      },
    };
    const barred = new Set(trial.lots.flat());
    const narrowed = { withheld: new Set(trial.withheld), isNarrowed: trial !== NO_TRIAL };
    let round: Round = { ...startOf(state, turn), ...narrowed, barred, shown: tally.shown };
    for (;;) {
      const decision = servedBy(round.wanted, decide(round));
      if (decision === ALL_MEMBERS) round = { ...round, wanted: undefined };
      if (left() < (COST[decision.kind] ?? 0)) {
        if (round.state.intent === undefined) await unreserved(round, turn);
        return { kind: 'spent' };
      }
      if (decision.kind !== 'read') await confirm();
      const performed = await perform(decision, round, turn);
      if ('step' in performed) return performed.step;
      round = performed.round;
      tally.shown = round.shown;
      // A 404 may come from a wrong route.
      tally.hasRefused ||= round.rejected !== undefined && round.look !== 'gone';
    }
  } catch (cause) {
    if (cause instanceof SettingsChanged) return { kind: 'again' };
    if (cause instanceof PlatformFailure) return { kind: 'broken', cause };
    throw cause;
  }
}

/** What hangs on who all the members are is decided once they are all read. */
const servedBy = (wanted: Round['wanted'], decision: Decision): Decision =>
  wanted?.isPart === true && !SERVED_BY_PART.has(decision.kind) ? ALL_MEMBERS : decision;

const calledBy = ({ callsMs = [] }: Tally, { clock }: ApplyPorts): readonly number[] =>
  calledOf(callsMs, clock());

/** The platform has answered well about this group, or has refused a write because of its content. */
const hasAnswered = ({ kind }: Step, looked: boolean, { hasRefused }: Tally): boolean =>
  kind === 'written' || (kind === 'in_step' && looked) || hasRefused;

function keptFrom({ ref, paused }: GroupState, { observing }: Connection, gate: Gate) {
  if (observing) return 'observing';
  if (gate.state !== 'open' && gate.canary !== ref.group) return 'gate_closed';
  return paused ? 'paused' : undefined;
}

/** As it was a moment ago, which mostly costs no request; one that would keep us from the group is read now. */
async function likely(name: ConnectionName, { connections }: ApplyPorts): Promise<Connection | undefined> {
  const known = await connections.find(name);
  return known?.observing === false ? known : connections.current(name);
}

class SettingsChanged extends Error {}

/**
 * The settings as they are once the group was read: whoever changes them marks the groups dirty then. So either the new
 * ones are found here, or the mark is newer than the state, and stays. Asked beside the users, it is no request of its own.
 * @throws SettingsChanged where the round began with others
 */
async function confirmSettings(seen: Connection, { connections }: ApplyPorts): Promise<void> {
  const now = await connections.current(seen.name);
  if (JSON.stringify(now) !== JSON.stringify(seen)) throw new SettingsChanged();
}

const needsApply = (state: GroupState): boolean =>
  state.dirtySinceMs !== undefined || state.intent !== undefined || state.suspectedChange !== undefined;

const HOUR_MS = 3_600_000;
/** Whom the platform would take is back as soon as may be. */
const restMs = ({ hasWritten }: Trial): number => (hasWritten ? 0 : HOUR_MS);

/** Put right at once the first time; somebody who goes on and on makes us come ever more rarely. */
const CONTESTED = { code: 'conflicts', message: 'somebody else changed the group while it was written' };

/** What the report of a waiting group counts. */
const factsOf = ({ why, keepAccess }: Extract<Step, { kind: 'wait' }>): Partial<Ending> => ({
  ...(keepAccess === undefined ? {} : { keepAccess }),
  ...(isUnlinkingHeld(why) ? { unlinkingHeld: true } : {}),
});

async function endWith(
  step: Exclude<Step, { kind: 'again' | 'conflict' | 'overtaken' | 'broken' }>,
  state: GroupState,
  ports: ApplyPorts,
  tally: Tally,
): Promise<Ending> {
  const { ref, attempts, dirtySinceMs: since } = state;
  const undoneMs = () => undoneBackoffMs(attempts, ports.random());
  const putOff = async (why: Trouble, waitMs?: number): Promise<Ending> => {
    await postpone(state, why, { ...attemptOf(tally, ports), waitMs });
    return { outcome: 'postponed' };
  };
  switch (step.kind) {
    case 'wait': {
      const { why, waitMs = undoneMs() } = step;
      return { ...(await putOff(why, waitMs)), ...factsOf(step) };
    }
    case 'narrowed':
      return putOff(UNACCEPTABLE, restMs(tally.trial));
    case 'spent':
      return putOff(state.lastError ?? SPENT, 0);
    case 'failed':
      return { outcome: 'failed', cause: step.cause };
    case 'in_step':
      return { outcome: tally.writes.length > 0 ? 'written' : 'in_step' };
    case 'written':
      tally.writes.push(step.write);
      if (step.undone !== undefined) return putOff(step.undone, undoneMs());
      if (step.isContested) {
        const ending = await putOff(CONTESTED, attempts > 0 ? undefined : ports.coalesceMs);
        return attempts > 0 ? ending : { outcome: 'written' };
      }
      if (step.clean)
        return { outcome: 'written', ...(since && { lagMs: Math.max(0, ports.clock() - since) }) };
      await ports.applyQueue.wake([{ ...ref, afterMs: ports.coalesceMs }]);
      return { outcome: 'written' };
  }
}
