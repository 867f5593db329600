import { readDirectory } from '../../shared/directory/reading/run.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import type { Cloud } from '../cloud.ts';
import { HOUR_MS, MINUTE_MS, START_MS } from '../simulation-run.ts';

/** The schedule of the deployed function (shared/contract/topology.ts). */
const EVERY_MS = 5 * MINUTE_MS;
const TIMEOUT_MS = 15 * MINUTE_MS;
const RESERVE_MS = 2 * MINUTE_MS;

/** @param accept called if an operator accepts the deletions of a connection */
export function startReaders(cloud: Cloud, accept: (connection: string) => void): void {
  for (const name of cloud.sources.keys()) {
    const again = (atMs: number) =>
      cloud.time.at(atMs, () => {
        if (cloud.isOver) return;
        again(atMs + EVERY_MS);
        cloud.start(readOnce(cloud, name));
        if (cloud.lambdas.isTwin()) cloud.start(readOnce(cloud, name));
      });
    again(START_MS + MINUTE_MS + 7_000);
    watchDeletions(cloud, name, accept);
  }
}

/** @returns the groups whose deletion an operator accepted and the reader reported */
export async function readOnce(
  cloud: Cloud,
  name: string,
  acceptsDeletions = false,
): Promise<readonly string[]> {
  let deleted: readonly string[] = [];
  await cloud.invoke('directory', TIMEOUT_MS, async ({ ports }) => {
    const connection = await ports.connections.current(connectionName(name));
    if (connection === undefined) return;
    const deadlineMs = ports.clock() + TIMEOUT_MS - RESERVE_MS;
    const report = await readDirectory(connection, ports, { deadlineMs, acceptsDeletions });
    deleted = report?.deleted ?? [];
    if (report === undefined || report.sent === 0) return;
    const what = `the reader read ${report.read} groups and sent ${report.sent}`;
    cloud.runLog.log({ lane: 'directory', connection: name, what });
  });
  return deleted;
}

/**
 * Simulates an operator who accepts deletions that the reader holds back. Once an hour, the operator lists the groups
 * that the reader stores and the directory has deleted. The operator accepts the deletions if at least two of these
 * groups were already in the list an hour ago.
 */
function watchDeletions(cloud: Cloud, name: string, accept: (connection: string) => void): void {
  let before = new Set<string>();
  const again = (atMs: number) =>
    cloud.time.at(atMs, () => {
      if (cloud.isOver) return;
      again(atMs + HOUR_MS);
      const source = cloud.sources.get(name);
      if (source === undefined || source.isFaulty()) return;
      const view = source.directory.viewAt(cloud.nowMs());
      const known = [...cloud.table.items.keys()].flatMap(
        (key) => /^C#(.*) READER#(.*)$/.exec(key)?.slice(1).join(' ') ?? [],
      );
      const gone = known.filter(
        (key) => key.startsWith(`${name} `) && !view.group(key.slice(name.length + 1)),
      );
      const isLasting = gone.filter((key) => before.has(key)).length > 1;
      before = new Set(gone);
      if (!isLasting) return;
      accept(name);
    });
  again(START_MS + HOUR_MS + 8 * MINUTE_MS);
}
