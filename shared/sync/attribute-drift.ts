import { type ActivityEvent, UNKNOWN_INITIATOR } from '../domain/drift.ts';
import type { GroupState } from '../domain/group-state.ts';
import type { PlatformGroupId } from '../domain/ids.ts';
import { type Attribution, attribute } from '../plan/attribute.ts';
import type { Ports } from './ports/bundles.ts';
import type { DriftRecord } from './ports/logs.ts';

/** The time within which the feed may report a change. The feed usually reports a change within minutes. */
export const HOPE_MS = 24 * 3_600_000;
/**
 * The maximum time by which the platform's clock may be ahead. A later event cannot explain a difference that was found
 * earlier.
 */
const CLOCK_SLACK_MS = 60_000;

/**
 * Adds the initiator to drift records of changes that apply found before the feed reported them. Each record gets its
 * initiator only from the events of its own platform group. If another platform group replaces a deleted one, the
 * events of the new group do not explain the deletion.
 */
export async function attributeDrift(
  state: GroupState,
  activity: ReadonlyMap<PlatformGroupId, readonly ActivityEvent[]>,
  { drift, groups, clock }: Pick<Ports, 'drift' | 'groups' | 'clock'>,
): Promise<void> {
  if (state.unattributed.length === 0 || activity.size === 0) return;
  const left: string[] = [];
  for (const record of await drift.read(state.ref, state.unattributed)) {
    if (record.initiator !== UNKNOWN_INITIATOR || clock() - record.detectedAtMs >= HOPE_MS) continue;
    const named = attributeTo(record, activity);
    if (named.initiator === UNKNOWN_INITIATOR) left.push(record.id);
    else await drift.attribute(state.ref, record.id, named);
  }
  if (left.length < state.unattributed.length) await groups.keepUnattributed(state, left);
}

/** Returns the initiator of a difference that was found before the feed reported the initiator. */
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

/** Returns the activity events of a suspected change. The events are about the linked platform group. */
export const activityOf = ({
  link,
  suspectedChange,
}: GroupState): ReadonlyMap<PlatformGroupId, readonly ActivityEvent[]> =>
  new Map(
    link === undefined || suspectedChange === undefined ? [] : [[link.id, suspectedChange.activityEvents]],
  );
