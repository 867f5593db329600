import { NOBODY_KNOWN } from '../domain/drift.ts';
import type { ConnectionName } from '../domain/ids.ts';
import { type DriftLog, DriftRecord } from '../sync/ports/logs.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import { connectionKey, DRIFT_PREFIX, driftKey, driftPartition, driftPrefix, dueText } from './keys.ts';
import { all, equal, exists, type Item, missing, type Table } from './table.ts';

const DRIFT_LIFE_SECONDS = 400 * 86_400;
/** Records keep the first thousand of a list, so that an item stays far below its limit. */
const MAX_LISTED = 1_000;

export function createDriftLog(table: Table): DriftLog {
  async function* recordsUnder(connection: ConnectionName, prefix: string) {
    const { pk } = connectionKey(connection);
    for await (const page of table.query({ partition: pk, prefix })) yield page.map(parseDrift);
  }

  return {
    record: (connection, drift) =>
      table.put(
        {
          ...driftKey({ connection, group: drift.group }, drift.id),
          ...OF_THIS_SCHEMA,
          ...drift,
          before: bounded(drift.before),
          after: bounded(drift.after),
          eventIds: drift.eventIds.slice(0, MAX_LISTED),
          ...happened(connection, drift.detectedAtMs, drift.id),
          expiresAt: Math.ceil(drift.detectedAtMs / 1_000) + DRIFT_LIFE_SECONDS,
        },
        missing('pk'),
      ),

    async settle(ref, ids, { by, atMs }) {
      for (const id of ids) {
        await table.update(
          driftKey(ref, id),
          { set: { settledBy: by, settledAtMs: atMs, ...happened(ref.connection, atMs, id) } },
          all(exists('pk'), equal('settledAtMs', null)),
        );
      }
    },

    async attribute(ref, id, { initiator, actor, eventIds }) {
      await table.update(
        driftKey(ref, id),
        { set: { initiator, ...(actor && { actor }), eventIds: eventIds.slice(0, MAX_LISTED) } },
        equal('initiator', NOBODY_KNOWN),
      );
    },

    read: async (ref, ids) => (await table.getMany(ids.map((id) => driftKey(ref, id)))).map(parseDrift),

    list: (connection) => recordsUnder(connection, DRIFT_PREFIX),

    ofGroup: ({ connection, group }) => recordsUnder(connection, driftPrefix(group)),

    async *since(connection, atMs, newestFirst = false) {
      const between = [dueText(atMs), '~'] as const;
      const partition = driftPartition(connection);
      for await (const page of table.query({ partition, index: true, between, newestFirst })) {
        const items = new Map((await table.getMany(page)).map((item) => [item.sk, item]));
        yield page.flatMap(({ sk }) => items.get(sk) ?? []).map(parseDrift);
      }
    },
  };
}

/** Where the index has the record: by when something last happened to it. */
const happened = (connection: ConnectionName, atMs: number, id: string) => ({
  gpk: driftPartition(connection),
  gsk: `${dueText(atMs)}#${id}`,
});

const bounded = (side: DriftRecord['before']) =>
  typeof side === 'string' || side === null ? side : side.slice(0, MAX_LISTED);

const parseDrift = (item: Item): DriftRecord => understood(DriftRecord, item, `a drift record at ${item.sk}`);
