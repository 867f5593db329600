import pMap from 'p-map';
import * as z from 'zod';
import { type ConnectionName, roleId } from '../domain/ids.ts';
import type { Erased, Eraser } from '../sync/ports/eraser.ts';
import { ERASING, journalOf } from '../sync/ports/logs.ts';
import { AUDIT_PREFIX, DRIFT_PREFIX, journalKey, keyPart, tombstoneKey } from './keys.ts';
import { equal, type Item, type Key, type Table } from './table.ts';

const WRITES_IN_FLIGHT = 16;
const SORTS: Readonly<Record<string, string>> = {
  G: 'groupsAndMemberships',
  U: 'directoryUsers',
  R: 'employees',
  P: 'pointersToEmployees',
  S: 'scimResources',
  SX: 'scimValues',
  ST: 'scimTokens',
  L: 'claimsOfGroups',
};

export function createEraser(table: Table): Eraser {
  /** @param erase the sort of what it erased of an item; undefined where it is to stay */
  const eraseAll = async (erase: (item: Item) => Promise<string | undefined>): Promise<Erased> => {
    const erased: Record<string, number> = {};
    for await (const page of table.scan()) {
      const sorts = await pMap(page, erase, { concurrency: WRITES_IN_FLIGHT });
      for (const sort of sorts) if (sort !== undefined) erased[sort] = (erased[sort] ?? 0) + 1;
    }
    return erased;
  };

  return {
    connection: (connection) =>
      eraseAll(async (item) => {
        if (!isOf(connection, item) || isKept(connection, item)) return undefined;
        await table.delete({ pk: item.pk, sk: item.sk });
        return sortOf(item);
      }),

    person: (connection, { member, role = NOBODY }) =>
      eraseAll(async (item) => {
        const { pk, sk } = item;
        if (!isOf(connection, item) || sk.startsWith(AUDIT_PREFIX)) return undefined;
        if (pk.startsWith('P#') && sk === keyPart(role)) {
          await table.delete({ pk, sk });
          return 'pointersToEmployees';
        }
        const { name, ...nameless } = Actor.safeParse(item['actor']).data ?? {};
        if (name == null || (nameless['id'] !== member && nameless['role'] !== role)) return undefined;
        const set = { actor: 'role' in nameless ? { ...nameless, name: null } : nameless };
        const { written } = await table.update({ pk, sk }, { set }, equal('actor.name', name));
        return written ? 'namesOfActors' : undefined;
      }),
  };
}

const NOBODY = roleId('');
/** Who did something: by id in the directory, or by role on the platform, where somebody without a name has none said. */
const Actor = z.record(z.string(), z.nullable(z.string()));

/** Here alone a key is read: names of connections hold no `#`. */
function isOf(connection: ConnectionName, item: Item): boolean {
  const [letter = '', name] = item.pk.split('#');
  return letter === 'ST' || letter === 'L' ? item['connection'] === connection : name === connection;
}

/** The name serves no other company, and who had all erased is still known. */
const isKept = (connection: ConnectionName, { pk, sk, action }: Item): boolean =>
  [tombstoneKey(connection), journalKey(journalOf(connection))].some(
    (kept) => kept.pk === pk && kept.sk === sk,
  ) ||
  (sk.startsWith(AUDIT_PREFIX) && action === ERASING);

function sortOf({ pk, sk }: Key): string {
  if (sk.startsWith(AUDIT_PREFIX)) return 'auditEntries';
  if (sk.startsWith(DRIFT_PREFIX)) return 'driftRecords';
  return SORTS[pk.split('#')[0] ?? ''] ?? 'state';
}
