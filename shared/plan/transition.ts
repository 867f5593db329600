import { defined } from '../domain/defined.ts';
import type {
  GroupState,
  Intent,
  LinkedGroup,
  MemberCounts,
  SettledState,
  StateChange,
  Uncertain,
} from '../domain/group-state.ts';
import { removalsAfter } from '../domain/hold.ts';
import type { Note } from './decision.ts';
import type { Facts } from './facts.ts';

/*
 * What the outcome of a decision does to the state of a group. Apply stores these changes, and a preview only makes
 * them.
 */

export const changed = (state: GroupState, change: StateChange): GroupState =>
  ({ ...state, ...change }) as GroupState;

export const noted = <Known extends Facts>(facts: Known, { what }: Note, atMs: number): Known =>
  what === 'missing'
    ? { ...facts, state: changed(facts.state, { missingSinceMs: atMs }) }
    : { ...facts, state: changed(facts.state, { intent: what }), isCounted: true };

/** The conclusions from a fetch of the platform group, in addition to the view. */
export interface Findings {
  /** The drift records that apply must close after it has restored the group. */
  readonly openDrift?: readonly string[];
  readonly unattributed?: readonly string[];
  readonly flapDamping?: GroupState['flapDamping'];
  readonly audited?: GroupState['lastAudit'];
  /** Whether the platform group is gone, as the function `existence` decided. */
  readonly isGone?: boolean;
  /** Whether this change explains a recorded refusal of a write: the refusal was only a version conflict. */
  readonly explainsRefusal?: boolean;
  readonly uncertain?: Uncertain | undefined;
  /** The digests of the approvals of an uncertain write that took effect late. */
  readonly consumes?: readonly string[] | undefined;
}

export interface KnownOutcome {
  /** The linked platform group; undefined if it is gone. */
  readonly platform?: LinkedGroup | undefined;
  readonly createdAtMs?: number | undefined;
  /** The time of the write; undefined if the platform refused the write. */
  readonly writtenAtMs: number | undefined;
  /**
   * The state of the group after the write. Undefined if the platform shows other content than the write sent, because
   * the group is then not settled.
   */
  readonly settled: SettledState | undefined;
  readonly counts: MemberCounts;
  readonly calledMs?: readonly number[];
  /** Whether every record in `openDrift` was closed. */
  readonly driftClosed?: boolean;
  /** The conclusions from the answer to the write, or from a later fetch. */
  readonly found?: Findings;
  /** Whether the record of uncertain writes ends, because no earlier write can still take effect. */
  readonly isCertain?: boolean;
  /** Whether the write removed members. After such a write, the next failure of the group is reported again. */
  readonly hasRemoved?: boolean;
}

export function changeByWrite(
  seen: GroupState,
  { platform, found = {}, settled, counts, writtenAtMs, calledMs, ...outcome }: KnownOutcome,
): StateChange {
  const { createdAtMs = seen.link?.createdAtMs } = outcome;
  const isReported = seen.failureReport?.digest !== undefined;
  return {
    intent: undefined,
    createsBeside: undefined,
    missingSinceMs: undefined,
    ...(platform === undefined
      ? withoutLink(seen, true)
      : { link: { ...platform, ...defined({ createdAtMs }) }, previousLink: undefined }),
    ...(outcome.driftClosed && { openDrift: undefined }),
    ...(outcome.isCertain && { uncertain: undefined }),
    ...(outcome.hasRemoved && isReported && { failureReport: undefined }),
    ...changeByFindings(seen, found),
    ...defined({ lastWriteAtMs: writtenAtMs, calledMs }),
    settled,
    counts,
  };
}

const NO_MEMBERS: MemberCounts = { wanted: 0, applied: 0, pending: 0 };

/** Returns the outcome of an open intent that a fetch showed: the platform group, or that it is gone. */
export const outcomeFound = (
  { action, atMs }: Intent,
  { counts = NO_MEMBERS }: GroupState,
  platform: LinkedGroup | undefined,
  writtenAtMs: number | undefined,
): KnownOutcome => ({
  platform,
  writtenAtMs,
  ...(action === 'create' && { createdAtMs: atMs }),
  ...(platform === undefined ? { settled: 'deleted', counts: NO_MEMBERS } : { settled: 'in_sync', counts }),
});

/**
 * Returns the change after a fetch without an open intent. The suspected change and the first 404 end.
 * @param platform undefined if the directory group no longer has a platform group
 */
export function changeByFetch(seen: GroupState, platform: LinkedGroup | undefined, found: Findings = {}) {
  const used = found.consumes && { removals: removalsAfter(seen, found.consumes) };
  const ended: StateChange = { missingSinceMs: undefined, suspectedChange: undefined, ...used };
  const change = { ...ended, ...changeByFindings(seen, found) };
  if (platform === undefined) {
    const released = defined({ releasedPlatformId: seen.link?.id });
    return { ...change, ...withoutLink(seen, found.isGone ?? false), ...released };
  }
  const isOther = platform.view.id !== seen.link?.view.id;
  return {
    ...change,
    link: { ...seen.link, ...platform, ...(isOther && { takeOver: true }) },
    previousLink: undefined,
  };
}

export const changeByAdoption = (platform: LinkedGroup): StateChange => ({
  link: { ...platform, takeOver: true },
  released: undefined,
  movedTo: undefined,
  suspectedChange: undefined,
  previousLink: undefined,
  refusedFields: undefined,
  createsBeside: undefined,
  missingSinceMs: undefined,
});

/** Returns the change after an intent ended without a new view. Without `uncertain`, the record does not change. */
export const changeByDrop = ({
  uncertain,
  audited,
}: Pick<Findings, 'uncertain' | 'audited'> = {}): StateChange => ({
  intent: undefined,
  ...defined({ uncertain, lastAudit: audited }),
});

const withoutLink = ({ link }: GroupState, isGone: boolean): StateChange => ({
  link: undefined,
  refusedFields: undefined,
  ...(link && { previousLink: { platformId: link.id, view: link.view, isGone } }),
});

/** The limits of the lists in a group. Usual lists are much shorter, and lists of this length fit into an item. */
const MAX_OPEN_DRIFT = 500;
const MAX_UNATTRIBUTED = 100;

/** Returns what a fetch found, apart from the platform group. The drift lists keep only the latest ids. */
const changeByFindings = (
  seen: GroupState,
  { openDrift = [], unattributed = [], flapDamping, audited, uncertain, explainsRefusal }: Findings,
): StateChange => ({
  ...(explainsRefusal && { lastError: undefined }),
  ...defined({
    openDrift: merged(seen.openDrift, openDrift, MAX_OPEN_DRIFT),
    unattributed: merged(seen.unattributed, unattributed, MAX_UNATTRIBUTED),
    flapDamping,
    lastAudit: audited,
    uncertain,
  }),
});

const merged = (before: readonly string[], more: readonly string[], most: number) =>
  more.length === 0 ? undefined : [...new Set([...before, ...more])].slice(-most);
