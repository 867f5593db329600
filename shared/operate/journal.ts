import { type OperatorAction, READ } from '../contract/operator-actions.ts';
import type { ConnectionName, GroupRef } from '../domain/ids.ts';
import { whyMoving } from '../plan/release.ts';
import type { AuditLog, Ports, ToolPorts } from '../sync/ports/bundles.ts';
import { type AuditEntry, type AuditedChange, entryOf, journalOf, linksOf } from '../sync/ports/logs.ts';

export { journalOf } from '../sync/ports/logs.ts';

export interface Action {
  readonly action: OperatorAction;
  readonly changes: readonly AuditedChange[];
  /** The group that the action is about, for an action in the connection's journal. */
  readonly group?: GroupRef['group'] | undefined;
  readonly reason?: string | undefined;
  readonly step?: AuditEntry['step'];
}

export interface JournalPorts extends Pick<Ports, 'caller' | 'clock' | 'newId'> {
  readonly audit: Pick<AuditLog, 'record' | 'head' | 'endWith'>;
}

/** Records the caller's action. It is called before the action, so after a crash the attempt is recorded. */
export async function recordAction(ref: GroupRef, action: Action, ports: JournalPorts): Promise<void> {
  await doRecorded(ref, action, ports, async () => true);
}

/**
 * Records an action and then performs it. If a concurrent change prevents the action, the record is corrected. At the
 * end, the group's item stores the link of the record. After that, the record must not change. An action on an unknown
 * group is recorded in the connection's journal.
 * @throws Error if the group's move to another source is not finished, because the action could be lost
 */
export async function doRecorded(
  ref: GroupRef,
  action: Action,
  ports: JournalPorts,
  act: () => Promise<boolean>,
): Promise<boolean> {
  const { audit } = ports;
  const known = await audit.head(ref);
  if (known?.openMove !== undefined)
    throw new Error(`nothing was changed: ${whyMoving(known.openMove, ports.clock())}`);
  const at = known === undefined ? journalOf(ref.connection) : ref;
  const entry: AuditEntry = await actionEntry(action, ports);
  const named = known === undefined ? { ...entry, group: ref.group } : entry;
  let head = known ?? (await audit.head(at)) ?? {};
  let link = await audit.record(at, { ...named, previous: linksOf(head) }, 'action');
  const isDone = await act();
  const final: AuditEntry = isDone ? named : { ...named, outcome: 'found_changed' };
  if (!isDone) link = await audit.record(at, { ...final, previous: linksOf(head) }, 'action');
  while (!(await audit.endWith(at, link, head))) {
    head = (await audit.head(at)) ?? {};
    link = await audit.record(at, { ...final, previous: linksOf(head) }, 'action');
  }
  return isDone;
}

/**
 * Returns the group, and the groups from which takeovers moved it. Each has its own audit. With nested groups, any moved
 * group may be within the group.
 */
export async function withGroupsBefore(
  { connection, group: last }: GroupRef,
  reader: Pick<Ports['reader'], 'moves'>,
  isNested = false,
): Promise<readonly GroupRef[]> {
  const moves = await reader.moves(connection);
  const groups = new Set([last]);
  // The set grows during the loop, so the loop also follows earlier moves.
  for (const group of groups)
    for (const { from, to } of moves) if (isNested || to === group) groups.add(from);
  return [...groups].map((group) => ({ connection, group }));
}

async function actionEntry({ action, changes, group, reason, step }: Action, ports: JournalPorts) {
  const actor = await ports.caller();
  return {
    ...entryOf(action, changes, ports),
    actor,
    ...(reason === undefined ? {} : { reason }),
    ...(group === undefined ? {} : { group }),
    ...(step && { step }),
    cause: reason === undefined ? actor.id : `${actor.id}: ${reason}`,
  };
}

export interface ReadOfPeople {
  readonly what:
    | 'activity'
    | 'deliveries'
    | 'export'
    | 'hold'
    | 'members'
    | 'message'
    | 'pending'
    | 'person'
    | 'plan'
    | 'search';
  readonly group?: GroupRef['group'] | undefined;
  readonly id?: string | undefined;
}

/**
 * If the setting `auditReads` is on, records who reads which data of people. The caller shows the data only after this
 * function returns, so no data is shown without an entry.
 */
export async function recordRead(
  connection: ConnectionName,
  { what, group, id }: ReadOfPeople,
  ports: JournalPorts & Pick<ToolPorts, 'connections'>,
): Promise<void> {
  const known = await ports.connections.find(connection);
  if (known?.settings.auditReads !== true) return;
  const action = `${READ}${what}` as const;
  const change = { kind: action, before: null, after: id ?? group ?? null, reason: 'auditReads' };
  await recordAction(journalOf(connection), { action, group, changes: [change] }, ports);
}
