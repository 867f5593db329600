import { type ActivityEvent, UNKNOWN_INITIATOR } from '../domain/drift.ts';
import type { GroupState } from '../domain/group-state.ts';
import type { PlatformGroupId } from '../domain/ids.ts';
import { type Attribution, attribute } from '../plan/attribute.ts';
import type { Ports } from './ports/bundles.ts';
import type { DriftRecord } from './ports/logs.ts';

/** How long groupsync waits for the feed's report about a change. The usual delay is a few minutes. */
export const FEED_DELAY_MS = 24 * 3_600_000;
/**
 * The platform's clock may be ahead by this time. So the time of an event may be this much later than the detection of
 * the difference that the event explains.
 */
const CLOCK_SLACK_MS = 60_000;

/**
 * Adds the initiator to drift records without an initiator. Apply stores such a record if it finds a change before the
 * feed reports the change. A record gets its initiator only from events about its own platform group. For example,
 * events about a new platform group do not explain the deletion of its predecessor.
 */
export async function attributeDrift(
  state: GroupState,
  activity: ReadonlyMap<PlatformGroupId, readonly ActivityEvent[]>,
  { drift, groups, clock }: Pick<Ports, 'drift' | 'groups' | 'clock'>,
): Promise<void> {
  if (state.unattributed.length === 0 || activity.size === 0) return;
  const left: string[] = [];
  for (const record of await drift.read(state.ref, state.unattributed)) {
    if (record.initiator !== UNKNOWN_INITIATOR || clock() - record.detectedAtMs >= FEED_DELAY_MS) continue;
    const named = attributeTo(record, activity);
    if (named.initiator === UNKNOWN_INITIATOR) left.push(record.id);
    else await drift.attribute(state.ref, record.id, named);
  }
  if (left.length < state.unattributed.length) await groups.keepUnattributed(state, left);
}

export function attributeTo(
  record: DriftRecord,
  activity: ReadonlyMap<PlatformGroupId, readonly ActivityEvent[]>,
): Attribution {
  const activityEvents = (record.platformId === null ? undefined : activity.get(record.platformId)) ?? [];
  const before = activityEvents.filter((event) => isBefore(event, record));
  return attribute(record.kind, before);
}

function isBefore({ at }: ActivityEvent, { detectedAtMs }: DriftRecord): boolean {
  const atMs = at === null ? Number.NaN : Date.parse(at);
  return Number.isNaN(atMs) || atMs <= detectedAtMs + CLOCK_SLACK_MS;
}

/** Returns the activity events of a suspected change, under the id of the linked platform group. */
export const activityOf = ({ link, suspectedChange }: GroupState) =>
  new Map(
    link === undefined || suspectedChange === undefined ? [] : [[link.id, suspectedChange.activityEvents]],
  );
