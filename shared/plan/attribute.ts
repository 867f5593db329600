import { type ActivityEvent, type Actor, type DriftKind, UNKNOWN_INITIATOR } from '../domain/drift.ts';

/** The initiator of a difference, and the events that prove it. */
export interface Attribution {
  /** `UNKNOWN` if no event explains the difference. */
  readonly initiator: string;
  readonly actor?: Actor;
  readonly eventIds: readonly string[];
}

export const UNATTRIBUTED: Attribution = { initiator: UNKNOWN_INITIATOR, eventIds: [] };

/** Event types with a known meaning, from the specification or the platform's feed. Any other type may mean anything. */
const ADDED = 'EXTERNAL_GROUP_ADD';
const REMOVED = 'EXTERNAL_GROUP_REMOVE';
const MEMBER_ADDED = 'EXTERNAL_GROUP_MEMBER_ADD';
const MEMBER_REMOVED = 'EXTERNAL_GROUP_MEMBER_REMOVE';
const KNOWN: ReadonlySet<string> = new Set([ADDED, REMOVED, MEMBER_ADDED, MEMBER_REMOVED]);

/** Differences that have a listed type of their own. */
const OWN_TYPE: { readonly [kind in DriftKind]?: string } = {
  members_added: MEMBER_ADDED,
  members_removed: MEMBER_REMOVED,
  deleted: REMOVED,
  recreated: REMOVED,
};

/** Whether an event says that the group itself was deleted. */
export const reportsDeletion = (activityEvents: readonly ActivityEvent[] = []): boolean =>
  activityEvents.some(({ type }) => type === REMOVED);

function explains(kind: DriftKind, { type }: ActivityEvent): boolean {
  const own = OWN_TYPE[kind];
  if (own !== undefined) return type === own;
  return !KNOWN.has(type) || (kind === 'duplicate_spoke_id' && type === ADDED);
}

/** If no event explains the change: an unlisted type may explain any kind, a listed type only kinds without an own type. */
const mayExplain = (kind: DriftKind, { type, initiator }: ActivityEvent): boolean =>
  !KNOWN.has(type) || (OWN_TYPE[kind] === undefined && initiator !== APPLICATION);

/** How the feed names applications, and with them ourselves. */
const APPLICATION = 'EXTERNAL';

/** If several initiators changed one group, a person is named first: the others are the platform or groupsync itself. */
const RANK: ReadonlyMap<string, number> = new Map([
  ['ROLE', 3],
  ['SYSTEM', 2],
  [APPLICATION, 1],
]);
const rank = (initiator: string): number => RANK.get(initiator) ?? 0;

/**
 * Returns the initiator of a difference. It takes the events about the group whose type explains the difference, or else
 * those that may explain it, and of these the events of the initiator with the highest rank. Our own writes have the
 * initiator EXTERNAL, so they never hide a person or the platform. An event of another type explains nothing: the right
 * event may not have been read yet.
 */
export function attribute(kind: DriftKind, activityEvents: readonly ActivityEvent[]): Attribution {
  const fitting = activityEvents.filter((event) => explains(kind, event));
  const explaining = fitting.length > 0 ? fitting : activityEvents.filter((event) => mayExplain(kind, event));
  const [first, ...rest] = explaining.map(({ initiator }) => initiator);
  if (first === undefined) return UNATTRIBUTED;
  const initiator = rest.reduce((best, one) => (rank(one) > rank(best) ? one : best), first);
  const ofInitiator = explaining.filter((event) => event.initiator === initiator);
  const actor = ofInitiator.findLast((event) => event.actor !== undefined)?.actor;
  return { initiator, ...(actor && { actor }), eventIds: ofInitiator.map(({ id }) => id) };
}
