import {
  DIRECTORY_GROUP_STATES,
  type DirectoryGroupRow,
  type DirectoryStatus,
} from '../../contract/answers/directory.ts';
import { instant, readOpenMoves, reportSources } from '../../operate/status.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { CONFIRMED_AFTER_MS } from '../rules/outcome.ts';
import type { ReaderGroup } from '../rules/reader-group.ts';

type DirectoryPorts = Pick<ToolPorts, 'reader' | 'clock'>;
type StatusPorts = DirectoryPorts & Pick<ToolPorts, 'sources'>;

export async function readDirectoryStatus(
  connection: Pick<Connection, 'name' | 'settings'>,
  ports: StatusPorts,
): Promise<DirectoryStatus> {
  const { name, settings } = connection;
  const { reader, clock } = ports;
  const [position, groups, sources, openMoves] = await Promise.all([
    reader.position(name),
    reader.groups(name),
    reportSources(connection, ports),
    readOpenMoves(name, ports),
  ]);
  const states = groups.map(stateOf);
  const countOf = (state: string) => states.filter((one) => one === state).length;
  const readMs = groups.flatMap((group) => group.readMs ?? []);
  const nowMs = clock();
  const freshness = sources.find(({ source }) => source === 'directory') ?? null;
  return {
    connection: name,
    kind: settings.directory?.kind ?? null,
    listedAt: instant(position?.listedMs),
    groups: groups.length,
    states: Object.fromEntries(DIRECTORY_GROUP_STATES.map((state) => [state, countOf(state)])) as Record<
      (typeof DIRECTORY_GROUP_STATES)[number],
      number
    >,
    due: groups.filter(({ dueMs }) => dueMs <= nowMs).length,
    otherSource: groups.filter(({ other }) => other !== undefined).length,
    differing: groups.filter(({ differs }) => differs !== undefined).length,
    openMoves,
    freshness,
    oldestReadAt: readMs.length === 0 ? null : instant(readMs.reduce((a, b) => Math.min(a, b))),
  };
}

/** Returns the groups of the directory. Groups that need attention come first. */
export async function readDirectoryGroups(
  { name }: Pick<Connection, 'name'>,
  { reader }: DirectoryPorts,
): Promise<readonly DirectoryGroupRow[]> {
  const rows = (await reader.groups(name)).map((group) => ({
    group: group.group,
    state: stateOf(group),
    readAt: instant(group.readMs),
    nextAt: new Date(group.dueMs).toISOString(),
    problem: group.problem ?? null,
    below: group.below?.length ?? 0,
    other: group.other ?? null,
    differs: group.differs ?? null,
  }));
  const rankOf = ({ state }: DirectoryGroupRow) => -DIRECTORY_GROUP_STATES.indexOf(state);
  return rows.toSorted((a, b) => rankOf(a) - rankOf(b) || (a.group < b.group ? -1 : 1));
}

function stateOf({ missingMs, problem, readMs, agreedMs, other }: ReaderGroup): DirectoryGroupRow['state'] {
  if (missingMs !== undefined) return 'missing';
  if (problem !== undefined) return 'failing';
  if (other !== undefined) return 'other';
  if (readMs === undefined) return 'new';
  const isSettled = agreedMs !== undefined && readMs - agreedMs >= CONFIRMED_AFTER_MS;
  return isSettled ? 'settled' : 'confirming';
}
