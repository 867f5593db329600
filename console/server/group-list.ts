import type { GroupStateName, PendingRow } from '../../shared/contract/answers/groups.ts';
import type { GroupState } from '../../shared/domain/group-state.ts';
import { SOURCES, type Source, sourceOf } from '../../shared/domain/source.ts';
import { stateName } from '../../shared/operate/report.ts';
import { instant } from '../../shared/operate/status.ts';
import { reportWaiting, waitingOf } from '../../shared/plan/waiting.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { GroupSummary } from '../../shared/sync/ports/group-index.ts';
import { matchesText } from '../search.ts';

export interface GroupFilter {
  readonly text: string;
  readonly state: string | undefined;
  /** A column of the list; a text that begins with `-` sorts in descending order. */
  readonly sort: string;
  readonly from: number;
  readonly count: number;
}

interface Known {
  readonly groups: readonly GroupSummary[];
  readonly pending: readonly PendingRow[];
}

interface Reads {
  readonly store: ToolPorts['groups'];
  readonly clock: ToolPorts['clock'];
  readonly everyState: () => Promise<readonly GroupState[]>;
}

/** Returns a part of the sorted list of groups that match a filter. `found` counts the matching groups of all parts. */
export async function groupPage(
  { groups, pending }: Known,
  filter: GroupFilter,
  { store, clock, everyState }: Reads,
) {
  const column = filter.sort.replace(/^-/, '');
  const stored = BY_STATE.has(column) ? await everyState() : [];
  const facts = { states: byGroup(stored), pending: countsOf(pending) };
  const matching = groups
    .filter((group) => matchesGroup(group, filter))
    .sort((a, b) => compare(a, b, filter.sort, facts));
  const states: Partial<Record<GroupStateName, number>> = {};
  for (const group of groups) states[stateName(group)] = (states[stateName(group)] ?? 0) + 1;
  const rows = await linesOf(matching.slice(filter.from, filter.from + filter.count), pending, {
    groups: store,
    clock,
  });
  return { rows, found: matching.length, total: groups.length, states };
}

/** Columns whose values are not in the index of groups. */
const BY_STATE = new Set(['wanted', 'platform', 'write', 'source']);

const byGroup = (states: readonly GroupState[]) =>
  new Map<string, GroupState>(states.map((state) => [state.ref.group, state]));

function countsOf(pending: readonly PendingRow[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { group } of pending) counts.set(group, (counts.get(group) ?? 0) + 1);
  return counts;
}

const matchesGroup = (group: GroupSummary, { text, state }: GroupFilter): boolean =>
  (state === undefined || stateName(group) === state) && matchesText([group.ref.group, group.name], text);

/** The order of the states in the list. All other states come last. */
const ORDER: readonly GroupStateName[] = [
  'failed',
  'held',
  'dirty',
  'paused',
  'unnamed',
  'name_clash',
  'unrestated',
  'unknown',
  'in_sync',
];

interface Facts {
  readonly states: ReadonlyMap<string, GroupState>;
  readonly pending: ReadonlyMap<string, number>;
}

const wantedOf = (state: GroupState | undefined) => state?.counts?.wanted ?? 0;
const platformOf = (state: GroupState | undefined) => state?.link?.view.size ?? null;
const sourceNameOf = (state: GroupState | undefined) =>
  state?.registers.name === undefined ? null : sourceOf(state.registers.name.stamp);
const nameOf = ({ name, ref }: GroupSummary) => name ?? ref.group;

function numberOf(group: GroupSummary, column: string, { states, pending }: Facts): number {
  const state = states.get(group.ref.group);
  switch (column) {
    case 'wanted':
      return wantedOf(state);
    case 'platform':
      return platformOf(state) ?? -1;
    case 'pending':
      return pending.get(group.ref.group) ?? 0;
    case 'source':
      return SOURCES.indexOf(sourceNameOf(state) as Source);
    case 'write':
      return state?.lastWriteAtMs ?? 0;
    case 'waiting':
      return group.dirtySinceMs ?? Number.MAX_VALUE;
    case 'state':
      return (ORDER.indexOf(stateName(group)) + ORDER.length + 1) % (ORDER.length + 1);
    default:
      return 0;
  }
}

/** Groups with equal values are sorted by name. */
function compare(a: GroupSummary, b: GroupSummary, sort: string, facts: Facts): number {
  const sign = sort.startsWith('-') ? -1 : 1;
  const column = sort.replace(/^-/, '');
  const byName = nameOf(a).localeCompare(nameOf(b));
  if (column === 'name') return sign * byName;
  return sign * (numberOf(a, column, facts) - numberOf(b, column, facts)) || byName;
}

export async function linesOf(
  groups: readonly GroupSummary[],
  pending: readonly PendingRow[],
  { groups: store, clock }: Pick<ToolPorts, 'groups' | 'clock'>,
) {
  const nowMs = clock();
  const states = byGroup(await store.readMany(groups.map(({ ref }) => ref)));
  const counts = countsOf(pending);
  return groups.map((summary) => {
    const state = states.get(summary.ref.group);
    return {
      id: summary.ref.group,
      name: summary.name ?? null,
      state: stateName(state ?? summary),
      held: summary.holdWaits,
      waitingSince: instant(summary.dirtySinceMs),
      wanted: wantedOf(state),
      /** Number of users at the last read or write of the platform group; null if there is no platform group. */
      platform: platformOf(state),
      pending: counts.get(summary.ref.group) ?? 0,
      lastWriteAt: instant(state?.lastWriteAtMs),
      waiting: reportWaiting(state && waitingOf(state, nowMs)),
      /** The source of the latest name; null for a group without a name. */
      source: sourceNameOf(state),
      lastError: state?.lastError?.message ?? null,
    };
  });
}
