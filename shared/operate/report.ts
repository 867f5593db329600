import type { GroupReport, GroupStateName } from '../contract/answers/groups.ts';
import { type GroupRegisters, isUnheardOf } from '../domain/group.ts';
import type { GroupState } from '../domain/group-state.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { reportWaiting, waitingOf } from '../plan/waiting.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import { collectPages } from '../sync/tuning.ts';

export type ReportPorts = Pick<ToolPorts, 'groups' | 'index' | 'clock'>;

type Shown = Pick<GroupState, 'pausedAtMs' | 'dirtySinceMs' | 'failedAtMs' | 'settled'> & {
  readonly registers?: GroupRegisters | undefined;
};

export function stateName({ settled, registers, ...times }: Shown): GroupStateName {
  if (times.pausedAtMs !== undefined) return 'paused';
  if (times.dirtySinceMs !== undefined) return 'dirty';
  if (times.failedAtMs !== undefined) return 'failed';
  if (settled === 'deleted' && registers !== undefined && isUnheardOf(registers)) return 'unknown';
  return settled ?? 'in_sync';
}

/** Yields every group in the index. The index does not distinguish a deleted group from a group without a name. */
export async function* summaries(
  connection: ConnectionName,
  { index, groups }: Pick<ReportPorts, 'groups' | 'index'>,
) {
  for await (const page of index.all(connection)) {
    const unsure = page.filter(({ settled, name }) => settled === 'deleted' && name === undefined);
    const refs = unsure.map(({ ref }) => ref);
    const states = await groups.readMany(refs, () => {});
    const registersOf = new Map(states.map(({ ref, registers }) => [ref.group, registers]));
    yield page.map((summary) => ({ ...summary, registers: registersOf.get(summary.ref.group) }));
  }
}

export async function reportGroups(connection: ConnectionName, ports: ReportPorts) {
  const reports: GroupReport[] = [];
  for (const { ref } of await collectPages(ports.index.all(connection))) {
    const state = await ports.groups.read(ref);
    if (state !== undefined) reports.push(await reportGroup(state, ports));
  }
  return reports.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export async function reportGroup(
  state: GroupState,
  { groups, clock }: Pick<ReportPorts, 'groups' | 'clock'>,
): Promise<GroupReport> {
  const view = state.link && (await groups.readView(state.ref, state.link.view));
  const members = await groups.members(state.ref);
  return {
    connection: state.ref.connection,
    id: state.ref.group,
    name: view?.name ?? state.registers.name?.value ?? null,
    platformId: state.link?.id ?? null,
    version: state.link?.version ?? null,
    state: stateName(state),
    wanted: state.counts?.wanted ?? 0,
    applied: state.counts?.applied ?? 0,
    excluded: state.counts?.excluded ?? 0,
    users: [...(view?.users.keys() ?? [])].sort(),
    pending: members.flatMap(({ member, pending }) =>
      pending === undefined ? [] : [{ id: member, cause: pending.cause, sinceMs: pending.sinceMs }],
    ),
    waiting: reportWaiting(waitingOf(state, clock())),
  };
}
