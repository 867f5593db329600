import { createAuditReader } from '../store/audit-reader.ts';
import type { Item, Key } from '../store/table.ts';

/** Opens the audit of one group in a folder with evidence: the items of the folder stand for those of the table. */
export function openFolderAudit(items: readonly Item[]) {
  const keyOf = ({ pk, sk }: Key) => `${pk} ${sk}`;
  const byKey = new Map(items.map((item) => [keyOf(item), item]));
  const { usersOf, ...reader } = createAuditReader({
    get: async (key) => byKey.get(keyOf(key)),
    getMany: async (keys) => keys.flatMap((key) => byKey.get(keyOf(key)) ?? []),
    async *query({ partition, prefix = '' }) {
      const found = items.filter(({ pk, sk }) => pk === partition && sk.startsWith(prefix));
      yield found.toSorted((a, b) => (a.sk < b.sk ? 1 : -1));
    },
  });
  return {
    ...reader,
    // A folder has no memberships of imports, which only the journal has.
    usersOf: async (...[ref, entry]: Parameters<typeof usersOf>) =>
      ref.group === '' ? [] : usersOf(ref, entry),
  };
}
