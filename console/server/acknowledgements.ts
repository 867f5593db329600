import { DAY_MS } from '../../shared/domain/duration.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { type JournalPorts, journalOf, recordAction } from '../../shared/operate/journal.ts';
import { type LogPorts, readLog } from '../../shared/operate/log.ts';

/** An item that needs attention, and that an operator has hidden until a stated time. */
interface Acknowledgement {
  /** The hidden item, for example `failed 00g1` (the failed group 00g1). */
  readonly item: string;
  /** Another version of the item is shown again. Null: the item stays hidden in every version. */
  readonly version: string | null;
  readonly until: string;
  readonly by: string;
}

const ACTION = 'acknowledge';
export const MAX_HIDDEN_DAYS = 30;
/** The maximum number of these actions that are read, newest first. Items hidden by older actions are shown again. */
const MAX_READ = 1_000;

/**
 * Hides an item until `untilMs`, or shows it again if `untilMs` is undefined. This is stored only as an action in the
 * connection's journal.
 */
export async function acknowledge(
  connection: ConnectionName,
  { item, version, untilMs }: { item: string; version: string | null; untilMs: number | undefined },
  ports: JournalPorts,
): Promise<void> {
  const after = untilMs === undefined ? null : new Date(untilMs).toISOString();
  const change = { kind: 'acknowledge_item', before: version, after, reason: item };
  await recordAction(journalOf(connection), { action: ACTION, changes: [change] }, ports);
}

/** Returns the items that are hidden now. For each item, only its newest action counts. */
export async function listAcknowledgements(
  connection: ConnectionName,
  ports: LogPorts & { readonly clock: () => number },
): Promise<readonly Acknowledgement[]> {
  const nowMs = ports.clock();
  const { group } = journalOf(connection);
  const sinceMs = nowMs - MAX_HIDDEN_DAYS * DAY_MS;
  const { entries } = await readLog(connection, { group, sinceMs, action: ACTION, limit: MAX_READ }, ports);
  const newest = new Map<string, Acknowledgement>();
  for (const { changes, actor } of entries) {
    const [change] = changes;
    if (change === undefined) continue;
    const { before, after, reason } = change;
    newest.set(reason, { item: reason, version: before, until: after ?? '', by: actor.name ?? actor.id });
  }
  return [...newest.values()].filter(({ until }) => Date.parse(until) > nowMs);
}
