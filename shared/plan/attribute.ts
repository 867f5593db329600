import { type ActivityEvent, type Actor, type DriftKind, UNKNOWN_INITIATOR } from '../domain/drift.ts';

export interface Attribution {
  /** `UNKNOWN` if no event explains the difference. */
  readonly initiator: string;
  readonly actor?: Actor;
  readonly eventIds: readonly string[];
}

const UNATTRIBUTED: Attribution = { initiator: UNKNOWN_INITIATOR, eventIds: [] };

/** These event types have a known meaning, from the specification or from observed feeds. */
const ADDED = 'EXTERNAL_GROUP_ADD';
const REMOVED = 'EXTERNAL_GROUP_REMOVE';
const MEMBER_ADDED = 'EXTERNAL_GROUP_MEMBER_ADD';
const MEMBER_REMOVED = 'EXTERNAL_GROUP_MEMBER_REMOVE';
const KNOWN: ReadonlySet<string> = new Set([ADDED, REMOVED, MEMBER_ADDED, MEMBER_REMOVED]);

/** The event type that reports each kind of difference. A kind without an entry has no event type of its own. */
const OWN_TYPE: { readonly [kind in DriftKind]?: string } = {
  members_added: MEMBER_ADDED,
  members_removed: MEMBER_REMOVED,
  deleted: REMOVED,
  recreated: REMOVED,
};

export const reportsDeletion = (activityEvents: readonly ActivityEvent[] = []): boolean =>
  activityEvents.some(({ type }) => type === REMOVED);

function explains(kind: DriftKind, { type }: ActivityEvent): boolean {
  const own = OWN_TYPE[kind];
  if (own !== undefined) return type === own;
  return !KNOWN.has(type) || (kind === 'duplicate_spoke_id' && type === ADDED);
}

/**
 * Whether an event may explain a difference that no event certainly explains. An event of an unknown type may explain
 * any kind of difference. An event of a known type may explain a difference only if the kind of the difference has no
 * entry in `OWN_TYPE` and the initiator is not an application.
 */
const mayExplain = (kind: DriftKind, { type, initiator }: ActivityEvent): boolean =>
  !KNOWN.has(type) || (OWN_TYPE[kind] === undefined && initiator !== APPLICATION);

/** The initiator of every application in the feed, including groupsync. */
const APPLICATION = 'EXTERNAL';

/**
 * The rank of each initiator, used if several initiators changed one group. A person (`ROLE`) ranks above the platform,
 * and the platform above applications such as groupsync.
 */
const RANK: ReadonlyMap<string, number> = new Map([
  ['ROLE', 3],
  ['SYSTEM', 2],
  [APPLICATION, 1],
]);
const rank = (initiator: string): number => RANK.get(initiator) ?? 0;

/**
 * Returns the initiator of a difference, and that initiator's events. The function uses the events whose type certainly
 * explains the difference. If there are none, it uses the events that may explain the difference. Among these events,
 * the initiator with the highest rank wins. groupsync's own writes have the initiator EXTERNAL, which ranks below
 * persons and the platform. If no event may explain the difference, the result is `UNATTRIBUTED`: perhaps groupsync has
 * not read the event yet.
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
