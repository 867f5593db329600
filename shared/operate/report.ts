import type { GroupReport, GroupStateName } from '../contract/answers.ts';
import type { GroupState } from '../domain/group-state.ts';
import type { ConnectionName } from '../domain/ids.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';

export type ReportPorts = Pick<ToolPorts, 'groups' | 'index'>;

/** Of the group itself, or of what the index shows of it. */
export function stateName(
  state: Pick<GroupState, 'paused' | 'dirtySinceMs' | 'failedAtMs' | 'settled'>,
): GroupStateName {
  if (state.paused) return 'paused';
  if (state.dirtySinceMs !== undefined) return 'dirty';
  if (state.failedAtMs !== undefined) return 'failed';
  return state.settled ?? 'in_sync';
}

/** Every group of a connection, in the order of their ids. Names come from the view, as the platform shows them. */
export async function reportGroups(
  connection: ConnectionName,
  ports: ReportPorts,
): Promise<readonly GroupReport[]> {
  const reports: GroupReport[] = [];
  for await (const page of ports.index.all(connection)) {
    for (const { ref } of page) {
      const state = await ports.groups.read(ref);
      if (state !== undefined) reports.push(await reportGroup(state, ports));
    }
  }
  return reports.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export async function reportGroup(
  state: GroupState,
  { groups }: Pick<ReportPorts, 'groups'>,
): Promise<GroupReport> {
  const view = state.view === undefined ? undefined : await groups.readView(state.ref, state.view);
  const members = await groups.members(state.ref);
  return {
    connection: state.ref.connection,
    id: state.ref.group,
    name: view?.name ?? state.registers.name?.value ?? null,
    platformId: state.platformId ?? null,
    version: state.version ?? null,
    state: stateName(state),
    wanted: state.counts?.wanted ?? 0,
    applied: state.counts?.applied ?? 0,
    users: [...(view?.users.keys() ?? [])].sort(),
    pending: members.flatMap(({ member, pending }) =>
      pending === undefined ? [] : [{ id: member, cause: pending.cause, sinceMs: pending.sinceMs }],
    ),
  };
}
