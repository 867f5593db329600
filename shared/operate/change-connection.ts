import {
  differingSettings,
  mergeSettings,
  parseSettings,
  type SettingDifference,
} from '../contract/change-setting.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { AuditedChange } from '../sync/ports/logs.ts';
import { NotFound } from './find-group.ts';
import { doRecorded, type JournalPorts, journalOf } from './journal.ts';

/** Settings that say how the platform is called, not what should be there. */
const CALLING = new Set(['baseUrl', 'concurrency', 'timeoutMs', 'activity']);

/** Every group is planned anew. */
export const altersPlans = (changes: readonly SettingDifference[]): boolean =>
  changes.some(({ key }) => !CALLING.has(key));

/** So many changes of one connection in a row would be a fault elsewhere. */
const MAX_RACES = 20;

export type ChangeConnectionPorts = JournalPorts & Pick<ToolPorts, 'connections'>;

export interface ConnectionChange {
  /** The connection as its author read it. */
  readonly read: Connection;
  readonly wanted: Connection;
  readonly action: string;
  /** What must have happened before the connection says so. */
  readonly first?: () => Promise<unknown>;
}

/**
 * Writes what one person made of a connection, over what others made of it since it was read. What they changed stays;
 * where they changed the same, nothing is written. The journal keeps each change, from what to what.
 * @returns the connection just before the change, and after it
 * @throws NotFound where the connection was removed meanwhile
 * @throws Error that says what else was changed
 */
export async function changeConnection(change: ConnectionChange, ports: ChangeConnectionPorts) {
  const { action, read, first } = change;
  for (let race = 0; race < MAX_RACES; race += 1) {
    const before = await ports.connections.current(read.name);
    if (before === undefined) throw new NotFound(`the connection ${read.name} was removed meanwhile`);
    const merged = mergedConnection(change, before);
    const isReplanned = altersPlans(differingSettings(before.settings, merged.settings));
    const after = isReplanned ? { ...merged, replanSinceMs: ports.clock() } : merged;
    const deed = { action, changes: changesBetween(before, after) };
    const isDone = await doRecorded(journalOf(read.name), deed, ports, async () => {
      await first?.();
      return ports.connections.replace(after, before);
    });
    if (isDone) return { before, after };
  }
  throw new Error(
    `the connection ${read.name} changed ${MAX_RACES} times while it was to be changed: try again`,
  );
}

/** @throws Error where `now` and `wanted` differ from what was read in the same setting */
function mergedConnection({ read, wanted }: Pick<ConnectionChange, 'read' | 'wanted'>, now: Connection) {
  const merged = mergeSettings({ read: read.settings, wanted: wanted.settings, now: now.settings });
  if (merged.conflicts.length > 0) {
    const meanwhile = merged.conflicts
      .map(({ key, before, after }) => `${key}: ${before} → ${after}`)
      .join(', ');
    throw new Error(
      `nothing was changed: somebody else changed the same setting meanwhile (${meanwhile}); look again: groupsync connections show ${now.name}`,
    );
  }
  const observing = wanted.observing === read.observing ? now.observing : wanted.observing;
  return { ...now, settings: parseSettings(merged.settings), observing };
}

function changesBetween(before: Connection, after: Connection): readonly AuditedChange[] {
  const settings = differingSettings(before.settings, after.settings).map(({ key, ...values }) => ({
    kind: 'set_setting',
    ...values,
    reason: key,
  }));
  if (before.observing === after.observing) return settings;
  const values = { before: String(before.observing), after: String(after.observing) };
  return [...settings, { kind: 'set_observing', ...values, reason: 'observing' }];
}
