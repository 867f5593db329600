import type { ConnectionName } from '../shared/domain/ids.ts';
import { type ReportPorts, stateName } from '../shared/operate/report.ts';
import { waitingOf } from '../shared/plan/waiting.ts';
import { type GroupCounts, isUnfinished } from './convergence.ts';

/** Counts the groups of a connection. It reads the index, and only the items of the dirty groups. */
export async function countGroups(connection: ConnectionName, ports: ReportPorts): Promise<GroupCounts> {
  const { groups, index, clock } = ports;
  let all = 0;
  let unfinished = 0;
  for await (const page of index.all(connection)) {
    all += page.length;
    for (const { ref } of page.filter((summary) => stateName(summary) === 'dirty')) {
      const state = await groups.read(ref);
      if (state === undefined) continue;
      if (isUnfinished({ state: stateName(state), waiting: waitingOf(state, clock()) })) unfinished += 1;
    }
  }
  return { all, unfinished };
}
