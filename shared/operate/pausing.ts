import type { OperatorAction } from '../contract/operator-actions.ts';
import { HOUR_MS } from '../domain/duration.ts';
import { type Gate, REOPENED_GATE } from '../domain/gate.ts';
import type { GroupState } from '../domain/group-state.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import { changeGate } from '../sync/gate.ts';
import { openMovesOf, withCurrentOwner } from '../sync/moves.ts';
import type { ToolPorts, WakePorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { entriesSince, type KeptEntry } from '../sync/ports/logs.ts';
import { dirtyNow } from '../sync/wake.ts';
import { type Action, doRecorded, type JournalPorts, journalOf, withGroupsBefore } from './journal.ts';
import { plural, Refused, shellWords } from './names.ts';
import { changeConnection } from './settings.ts';

type GroupPausePorts = JournalPorts &
  Pick<WakePorts, 'applyQueue' | 'coalesceMs'> &
  Pick<ToolPorts, 'groups'>;

type ConnectionPausePorts = JournalPorts & Pick<ToolPorts, 'gates' | 'connections' | 'reader'>;

/**
 * Pauses a group: groupsync writes nothing to its platform group, and keeps its changes.
 * @returns false if the group does not exist
 * @throws Refused if a takeover has moved its platform group, because a pause of the former group stops no write
 */
export async function pauseGroup(ref: GroupRef, ports: GroupPausePorts, reason?: string): Promise<boolean> {
  const seen = await ports.groups.read(ref);
  if (seen === undefined) return false;
  await refuseMoved(seen, 'pause', ports);
  const before = seen.pausedAtMs === undefined ? 'running' : 'paused';
  const action = { ...pauseAction('pause', before, 'paused'), reason };
  if (await doRecorded(ref, action, ports, () => ports.groups.pause(ref, ports.clock()))) return true;
  throw new Error(changedMeanwhile('moved it', `groupsync status ${shellWords(ref.group)}`));
}

/** @throws Refused if a takeover has moved the platform group, because the action would not reach that group */
export async function refuseMoved(seen: GroupState, verb: string, { groups }: Pick<ToolPorts, 'groups'>) {
  const { movedTo } = await withCurrentOwner(seen, groups);
  if (movedTo === undefined) return;
  throw new Refused(
    `nothing was changed: ${movedTo} of another source owns the platform group of ${seen.ref.group}; for that group: groupsync ${verb} ${shellWords(movedTo)}`,
  );
}

export interface GroupPause {
  readonly sinceMs: number;
  /** The audit entry with which the pause began; undefined if the audit no longer has it. */
  readonly entry: KeptEntry | undefined;
}

/** Returns the start of a group's pause, with the operator and the reason; undefined if the group is not paused. */
export async function readPause(
  ref: GroupRef,
  { audit, groups, reader }: Pick<ToolPorts, 'audit' | 'groups' | 'reader'>,
): Promise<GroupPause | undefined> {
  const sinceMs = (await groups.read(ref))?.pausedAtMs;
  if (sinceMs === undefined) return undefined;
  const refs = await withGroupsBefore(ref, reader);
  const found = await Promise.all(refs.map((one) => entriesSince(audit.read(one), sinceMs - HOUR_MS)));
  const mayBegin = ({ action, outcome, atMs }: KeptEntry) =>
    action === 'pause' && outcome === 'written' && atMs <= sinceMs;
  // A pause is recorded before it begins. After a takeover and back, the group may have the entry of another pause.
  const [entry] = found
    .flat()
    .filter(mayBegin)
    .sort((a, b) => b.atMs - a.atMs);
  return { sinceMs, entry };
}

/**
 * Ends a pause. Apply then writes the changes that arrived during the pause. Returns false if the group is not paused.
 * @param seenMs the start of the pause that the operator was shown; null for none
 * @throws Error if the group was paused or resumed after that, or Refused as `pauseGroup`
 */
export async function resumeGroup(ref: GroupRef, ports: GroupPausePorts, seenMs?: number | null) {
  const now = await ports.groups.read(ref);
  if (now !== undefined) await refuseMoved(now, 'resume', ports);
  if (now?.pausedAtMs === undefined) return false;
  const pausedAtMs = seenMs === undefined ? now.pausedAtMs : seenMs;
  const action = pauseAction('resume', 'paused', 'running');
  const act = async () => {
    if (pausedAtMs !== null && (await ports.groups.resume(ref, { ...dirtyNow(ports), pausedAtMs })))
      return true;
    // If the first answer was lost, the SDK repeated the write. The repeated write fails, although the group is
    // resumed.
    const after = await ports.groups.read(ref);
    return after !== undefined && after.pausedAtMs === undefined;
  };
  if (!(await doRecorded(ref, action, ports, act)))
    throw new Error(changedMeanwhile('paused or resumed it', `groupsync status ${shellWords(ref.group)}`));
  await ports.applyQueue.wake([ref]);
  return true;
}

const changedMeanwhile = (what: string, look: string) =>
  `nothing was changed: another operator ${what} meanwhile; check again: ${look}`;

const pauseAction = (action: 'pause' | 'resume', before: string, after: string): Action => ({
  action,
  changes: [{ kind: 'set_pause', before, after, reason: 'writes of the group' }],
});

/**
 * Closes the connection's gate until an operator resumes the connection. Events are still accepted, and their groups
 * stay dirty.
 * @param seen the gate that the operator was shown
 * @throws Error if the connection was paused or resumed after that
 */
export async function pauseConnection(
  name: ConnectionName,
  reason: string | undefined,
  ports: Omit<ConnectionPausePorts, 'connections' | 'reader'>,
  seen?: Gate,
): Promise<void> {
  const { id } = await ports.caller();
  const detail = `${id}: ${reason ?? 'no reason given'}`;
  const next: Gate = { state: 'paused', reason: detail, sinceMs: ports.clock(), closings: 0 };
  await setGate(name, next, { action: 'pause', reason, seen }, ports);
}

/**
 * Opens the gate, whatever the reason for which it is closed, and ends the observing mode of the connection. The
 * requeue job then wakes the waiting groups at a limited rate. If the cause still exists, the first failed call closes
 * the gate again.
 * @param seen the gate and the mode that the operator was shown
 * @returns false if the connection does not exist
 * @throws Error if the connection was paused or set to observe after that, or while groups move to another source
 */
export async function resumeConnection(
  name: ConnectionName,
  ports: ConnectionPausePorts,
  seen?: { readonly gate: Gate; readonly observing: boolean },
): Promise<boolean> {
  const read = await ports.connections.current(name);
  if (read === undefined) return false;
  const open = await openMovesOf(name, ports.reader);
  if (open.length > 0)
    throw new Error(
      `nothing was changed: the move of ${plural(open.length, 'group')} to another source is not finished; groupsync finishes it within minutes: groupsync status`,
    );
  if (seen?.observing === false && read.observing)
    throw new Error(changedMeanwhile('set it to observe', `groupsync connections show ${name}`));
  const action = 'resume';
  await setGate(name, REOPENED_GATE, { action, seen: seen?.gate }, ports);
  if (read.observing) await changeConnection({ read, wanted: { ...read, observing: false }, action }, ports);
  return true;
}

/** Makes the connection observe: it plans, and writes nothing until an operator resumes it. */
export async function observeConnection(
  read: Connection,
  action: OperatorAction,
  ports: Pick<ConnectionPausePorts, 'connections'> & JournalPorts,
): Promise<void> {
  const current = await ports.connections.current(read.name);
  if (current === undefined || current.observing) return;
  await changeConnection({ read: current, wanted: { ...current, observing: true }, action }, ports);
}

async function setGate(
  name: ConnectionName,
  next: Gate,
  { seen, ...action }: Pick<Action, 'action' | 'reason'> & { readonly seen: Gate | undefined },
  ports: Omit<ConnectionPausePorts, 'connections' | 'reader'>,
): Promise<void> {
  const read = await ports.gates.read(name);
  const reason = 'gate of the connection';
  const change = { kind: 'set_gate', before: read.state, after: next.state, reason };
  let other: Gate | undefined;
  const act = async () => {
    await changeGate(name, ports, (now) => {
      other = [seen ?? read, next].some((one) => pauseIn(one) === pauseIn(now)) ? undefined : now;
      return other === undefined ? next : undefined;
    });
    return other === undefined;
  };
  if (await doRecorded(journalOf(name), { ...action, changes: [change] }, ports, act)) return;
  const what = other?.state === 'paused' ? `paused it (${other.reason})` : 'resumed it';
  throw new Error(changedMeanwhile(what, 'groupsync status'));
}

/** Returns a text that identifies an operator's pause; '' for a gate in any other state. */
const pauseIn = ({ state, reason, sinceMs }: Gate) => (state === 'paused' ? `${sinceMs} ${reason}` : '');
