import * as z from 'zod';
import { intentId } from '../domain/ids.ts';
import type { AuditEntry, AuditLog } from '../sync/ports/logs.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import { AUDIT_PREFIX, auditKey, groupKey } from './keys.ts';
import type { Item, Table } from './table.ts';

const AUDIT_LIFE_SECONDS = 400 * 86_400;

const AuditItem = z.lazy(() =>
  z.object({
    atMs: z.number(),
    intent: z.string().transform(intentId),
    action: z.string(),
    changes: z.array(
      z.object({
        kind: z.string(),
        member: z.string().nullable().exactOptional(),
        before: z.string().nullable(),
        after: z.string().nullable(),
        reason: z.string(),
      }),
    ),
    changeCount: z.number(),
    versionBefore: z.string().nullable(),
    versionAfter: z.string().nullable(),
    cause: z.string(),
    outcome: z.enum(['written', 'found_written', 'found_changed', 'rejected']),
  }),
);

export function createAuditLog(table: Table): AuditLog {
  return {
    async record(ref, entry) {
      const at = new Date(entry.atMs).toISOString();
      await table.put({
        ...auditKey(ref, at, entry.intent),
        ...OF_THIS_SCHEMA,
        ...entry,
        changes: entry.changes.map((change) => ({ ...change })),
        expiresAt: Math.ceil(entry.atMs / 1_000) + AUDIT_LIFE_SECONDS,
      });
    },

    async *read(ref) {
      const { pk } = groupKey(ref);
      for await (const page of table.query({ partition: pk, prefix: AUDIT_PREFIX, newestFirst: true })) {
        yield page.map(parseEntry);
      }
    },
  };
}

const parseEntry = (item: Item): AuditEntry => understood(AuditItem, item, `an audit entry at ${item.sk}`);
