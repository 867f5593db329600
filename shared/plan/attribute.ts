import { type DriftKind, NOBODY_KNOWN, type Trace } from '../domain/drift.ts';

/** Who is named for a difference, and the events that say so. */
export interface Attribution {
  /** `UNKNOWN` where no event told of it. */
  readonly initiator: string;
  readonly eventIds: readonly string[];
}

export const UNATTRIBUTED: Attribution = { initiator: NOBODY_KNOWN, eventIds: [] };

/** Event types that the specification or the platform's own feed names; whatever else comes may mean anything else. */
const ADDED = 'EXTERNAL_GROUP_ADD';
const REMOVED = 'EXTERNAL_GROUP_REMOVE';
const MEMBER_ADDED = 'EXTERNAL_GROUP_MEMBER_ADD';
const MEMBER_REMOVED = 'EXTERNAL_GROUP_MEMBER_REMOVE';
const KNOWN: ReadonlySet<string> = new Set([ADDED, REMOVED, MEMBER_ADDED, MEMBER_REMOVED]);

const explains: Readonly<Record<DriftKind, (type: string) => boolean>> = {
  members_added: (type) => type === MEMBER_ADDED,
  members_removed: (type) => type === MEMBER_REMOVED,
  deleted: (type) => type === REMOVED,
  recreated: (type) => type === REMOVED,
  name: (type) => !KNOWN.has(type),
  spoke_id: (type) => !KNOWN.has(type),
  duplicate_spoke_id: (type) => type === ADDED || !KNOWN.has(type),
};

/** How the feed names applications, and with them ourselves. */
const APPLICATION = 'EXTERNAL';

/** Of several hands on one group the person's is named: the others are rather the platform's, or our own. */
const RANK: Readonly<Record<string, number>> = { ROLE: 3, SYSTEM: 2, [APPLICATION]: 1 };
const isAnotherDeed = ({ initiator, type }: Trace): boolean => initiator === APPLICATION && KNOWN.has(type);
const rank = (initiator: string): number => RANK[initiator] ?? 0;

/**
 * Names who made a difference: of the events about the group those whose type explains it; where none does, any but an
 * application's of a type that means another thing. Our own writes show as EXTERNAL too: they never hide a person or
 * the platform itself, and explain nothing that they did not do, since the event that does may not have been read yet.
 */
export function attribute(kind: DriftKind, traces: readonly Trace[]): Attribution {
  const fitting = traces.filter(({ type }) => explains[kind](type));
  const told = fitting.length > 0 ? fitting : traces.filter((trace) => !isAnotherDeed(trace));
  const [first, ...rest] = told.map(({ initiator }) => initiator);
  if (first === undefined) return UNATTRIBUTED;
  const initiator = rest.reduce((best, one) => (rank(one) > rank(best) ? one : best), first);
  return { initiator, eventIds: told.filter((trace) => trace.initiator === initiator).map(({ id }) => id) };
}
