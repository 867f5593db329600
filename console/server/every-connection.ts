import pMap from 'p-map';
import type { ConnectionRow } from '../../shared/contract/answers/status.ts';
import { type ConnectionName, connectionName } from '../../shared/domain/ids.ts';
import { listConnections } from '../../shared/operate/settings.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { seesMessages, visibleTo, withoutMessages } from './access.ts';
import type { Live } from './live.ts';
import { type Overview, revisionOf } from './overview.ts';
import { roleFor, type SignedInPerson } from './roles.ts';

interface Visible {
  /** undefined: the person uses AWS credentials. */
  readonly person: SignedInPerson | undefined;
  readonly ports: ToolPorts;
  readonly overviewOf: (connection: ConnectionName) => Overview;
  readonly describe: (error: unknown) => string;
}

const READS_AT_ONCE = 4;

/** Reads all connections that the person may see. A connection that cannot be read has a problem, and no value. */
async function eachVisible<Value>(
  { person, ports, overviewOf, describe }: Visible,
  read: (overview: Overview) => Promise<Value>,
) {
  const rows = visibleTo(person, await listConnections(ports));
  return pMap(
    rows,
    async (row: ConnectionRow) => {
      const name = connectionName(row.name);
      const role = (person && roleFor(person, name)) ?? null;
      try {
        return { row, role, value: await read(overviewOf(name)), problem: null };
      } catch (error) {
        return { row, role, value: null, problem: describe(error) };
      }
    },
    { concurrency: READS_AT_ONCE },
  );
}

export async function everyAttention(visible: Visible) {
  const connections = await eachVisible(visible, async (overview) => {
    const attention = await overview.attention();
    return seesMessages(visible.person) ? attention : withoutMessages(attention);
  });
  const readable = connections.find(({ value }) => value !== null);
  const isShown = readable !== undefined && seesMessages(visible.person);
  const causes = isShown ? await visible.overviewOf(connectionName(readable.row.name)).causes() : [];
  return { connections, causes };
}

/** Returns one revision and one number of holds for all visible connections together. */
export async function everyLive(visible: Visible): Promise<Live> {
  const found = await eachVisible(visible, (overview) => overview.live());
  const revisions = found.map(({ row, value, problem }) => [row.name, value?.revision, problem]);
  return {
    revision: revisionOf(revisions),
    deadLetters: seesMessages(visible.person)
      ? (found.find(({ value }) => value !== null)?.value?.deadLetters ?? null)
      : null,
    holds: found.reduce((sum, { value }) => sum + (value?.holds ?? 0), 0),
    role: null,
    refused: {},
    connections: found.map(({ row }) => row),
  };
}
