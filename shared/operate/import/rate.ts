import { TABLE } from '../../contract/topology.ts';
import type { TableFacts } from '../../sync/ports/deployment.ts';
import { plural } from '../names.ts';

/**
 * The memberships that an import sends in a second on a new table. With their writes to the platform, they need most of
 * the table's write units, and leave room for other connections (`npm run bench -- fleet`).
 */
export const IMPORTED_PER_SECOND = 800;
/** The write units per second of a new on-demand table (AWS quotas). */
const NEW_TABLE_UNITS = 4_000;
/** For fewer memberships, warming the table takes longer than it saves. */
const MANY = 100_000;
/** The warm throughput with which an import is five times as fast. DynamoDB's own ratio of reads to writes is three. */
const WARM = { ReadUnitsPerSecond: 60_000, WriteUnitsPerSecond: 20_000 };

/** Returns how many memberships an import sends in a second: more if the table and its index are warmed. */
export const importRate = (warmUnits = NEW_TABLE_UNITS): number =>
  IMPORTED_PER_SECOND * Math.max(1, warmUnits / NEW_TABLE_UNITS);

/** Returns how long an import takes, and for a large import on a new table the command that makes it faster. */
export function durationLines(
  memberships: number,
  table: ({ readonly tableName: string } & Pick<TableFacts, 'warmUnits'>) | undefined,
): readonly string[] {
  if (table === undefined) return [];
  const { tableName, warmUnits } = table;
  const minutes = Math.round(memberships / importRate(warmUnits) / 60);
  if (minutes === 0) return [];
  const takes = `sending takes about ${plural(minutes, 'minute')}, so other connections are not delayed`;
  if (memberships <= MANY || warmUnits === undefined || warmUnits >= WARM.WriteUnitsPerSecond) return [takes];
  const warm = Object.entries(WARM).map(([name, units]) => `${name}=${units}`);
  const index = [{ Update: { IndexName: TABLE.index.name, WarmThroughput: WARM } }];
  return [
    `${takes}: the table is warmed to ${warmUnits} write units a second. To import faster, warm it first; AWS charges once:`,
    `aws dynamodb update-table --table-name ${tableName} --warm-throughput ${warm} --global-secondary-index-updates '${JSON.stringify(index)}'`,
  ];
}
