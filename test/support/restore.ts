import type { MemoryTable } from '../../simulate/table.ts';

/** Notes the content of the table. The result restores this content into a table with another id. */
export function backupOf(table: MemoryTable, nowMs: () => number): () => void {
  const backup = [...table.items.values()];
  return () => {
    for (const { pk, sk } of [...table.items.values()]) table.remove({ pk, sk });
    for (const item of backup) table.store(item);
    table.restored = { id: `restored at ${nowMs()}`, createdAtMs: nowMs() };
  };
}
