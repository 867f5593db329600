import type { ConnectionName, GroupRef } from '../../domain/ids.ts';
import { keyPart, sha256 } from '../../store/keys.ts';
import type { Key } from '../../store/table.ts';
import type { IndexedValue, ScimResource } from '../ports.ts';

/*
 * | item                                   | pk                                     | sk         |
 * |----------------------------------------|----------------------------------------|------------|
 * | resource                               | `S#<conn>#<type>`                      | `<id>`     |
 * | claim of a unique value                | `SX#<conn>#<type>#<attribute>#<hash>`  | `HOLDER`   |
 * | pointer of a value that is not unique  | `SX#<conn>#<type>#<attribute>#<hash>`  | `AT#<id>`  |
 * | generation of the set of resources     | `S#<conn>#orders`                      | `<type>`   |
 * | old and new member list during a write | `SL#<conn>#<group>`                    | `<write>#<n>` |
 * | token                                  | `ST#<prefix>`                          | `TOKEN`    |
 * | access token of an OAuth client        | `ST#<prefix of the client's secret>`   | `ACCESS#<hash>` |
 * | tokens of a connection                 | `S#<conn>#tokens`                      | `<prefix>` |
 *
 * Keys contain hashes of values, because values may be long, and because keys must not show names and addresses.
 */

export const orderKey = (connection: ConnectionName, type: ScimResource['type']): Key => ({
  pk: `S#${connection}#orders`,
  sk: type,
});

export function valuePartition(connection: ConnectionName, { type, attribute, value }: IndexedValue): string {
  return `SX#${connection}#${type}#${attribute}#${sha256(value)}`;
}
export const claimKey = (connection: ConnectionName, value: IndexedValue): Key => ({
  pk: valuePartition(connection, value),
  sk: 'HOLDER',
});
export const POINTER_PREFIX = 'AT#';
export const pointerKey = (connection: ConnectionName, value: IndexedValue, id: string): Key => ({
  pk: valuePartition(connection, value),
  sk: `${POINTER_PREFIX}${keyPart(id)}`,
});

export const heldKey = ({ connection, group }: GroupRef, write: string, index: number): Key => ({
  pk: `SL#${connection}#${keyPart(group)}`,
  sk: `${write}#${index}`,
});

export const tokenKey = (prefix: string): Key => ({ pk: `ST#${keyPart(prefix)}`, sk: 'TOKEN' });
export const accessKey = (prefix: string, hash: string): Key => ({
  pk: tokenKey(prefix).pk,
  sk: `ACCESS#${keyPart(hash)}`,
});
export const tokensPartition = (connection: ConnectionName): string => `S#${connection}#tokens`;
