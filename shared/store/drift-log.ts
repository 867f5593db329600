import * as z from 'zod';
import { DRIFT_KINDS } from '../domain/drift.ts';
import { groupId, platformGroupId } from '../domain/ids.ts';
import type { DriftLog, DriftRecord } from '../sync/ports/drift.ts';
import { CorruptItemError } from './errors.ts';
import { connectionKey, DRIFT_PREFIX, driftKey } from './keys.ts';
import { all, equal, exists, type Item, missing, type Table } from './table.ts';

const DRIFT_LIFE_SECONDS = 400 * 86_400;
/** Records keep the first thousand of a list, so that an item stays far below its limit. */
const MAX_LISTED = 1_000;

const Side = z.union([z.string(), z.array(z.string())]).nullable();
const Settlement = z.enum(['restore', 'report', 'adopt']);
const DriftItem = z.object({
  id: z.string(),
  group: z.string().transform(groupId),
  platformId: z.string().transform(platformGroupId).nullable(),
  kind: z.enum(DRIFT_KINDS),
  before: Side,
  after: Side,
  initiator: z.string(),
  eventIds: z.array(z.string()),
  policy: Settlement,
  detectedAtMs: z.number(),
  settledBy: Settlement.nullable(),
  settledAtMs: z.number().nullable(),
});

export function createDriftLog(table: Table): DriftLog {
  return {
    record: (connection, drift) =>
      table.put(
        {
          ...driftKey(connection, drift.id),
          ...drift,
          before: bounded(drift.before),
          after: bounded(drift.after),
          eventIds: drift.eventIds.slice(0, MAX_LISTED),
          expiresAt: Math.ceil(drift.detectedAtMs / 1_000) + DRIFT_LIFE_SECONDS,
        },
        missing('pk'),
      ),

    async settle(connection, ids, { by, atMs }) {
      for (const id of ids) {
        await table.update(
          driftKey(connection, id),
          { set: { settledBy: by, settledAtMs: atMs } },
          all(exists('pk'), equal('settledAtMs', null)),
        );
      }
    },

    async *list(connection) {
      const { pk } = connectionKey(connection);
      for await (const page of table.query({ partition: pk, prefix: DRIFT_PREFIX }))
        yield page.map(parseDrift);
    },
  };
}

const bounded = (side: DriftRecord['before']) =>
  typeof side === 'string' || side === null ? side : side.slice(0, MAX_LISTED);

function parseDrift(item: Item): DriftRecord {
  const parsed = DriftItem.safeParse(item);
  if (!parsed.success)
    throw new CorruptItemError(`expected a drift record at ${item.sk}`, { cause: parsed.error });
  return parsed.data;
}
