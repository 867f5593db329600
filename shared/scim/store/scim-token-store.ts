import type { ConnectionName } from '../../domain/ids.ts';
import { OF_THIS_SCHEMA, plain, understood } from '../../store/item-form.ts';
import { keyPart } from '../../store/keys.ts';
import {
  all,
  any,
  equal,
  exists,
  greater,
  type Item,
  itemsOf,
  less,
  missing,
  type Table,
} from '../../store/table.ts';
import { ScimAccess, ScimToken } from '../ports.ts';
import { accessKey, tokenKey, tokensPartition } from './scim-keys.ts';

/**
 * Stores SCIM tokens. The key of a token is the token's prefix, because a request does not name its connection. For
 * `list`, a second item has the token's connection in its key. `add` writes the second item first. If the process dies
 * before it writes the token, `list` ignores the second item.
 */
export function createScimTokenStore(table: Table) {
  const find = async (prefix: string) => {
    const item = await table.get(tokenKey(prefix));
    return item === undefined ? undefined : parseToken(item);
  };

  return {
    find,

    async findAccess(prefix: string, hash: string) {
      const items = await table.getMany([tokenKey(prefix), accessKey(prefix, hash)]);
      const secret = items.find(({ sk }) => sk === tokenKey(prefix).sk);
      const access = items.find(({ sk }) => sk === accessKey(prefix, hash).sk);
      return { secret: secret && parseToken(secret), access: access && parseAccess(access) };
    },

    async addAccess(access: ScimAccess): Promise<void> {
      const expiresAt = Math.ceil(access.expiresMs / 1_000);
      await table.put({ ...accessKey(access.prefix, access.hash), ...OF_THIS_SCHEMA, ...access, expiresAt });
    },

    async list(connection: ConnectionName): Promise<readonly ScimToken[]> {
      const listed = await itemsOf(table, { partition: tokensPartition(connection) });
      const items = await table.getMany(listed.map(({ prefix }) => tokenKey(String(prefix))));
      return items.map(parseToken).filter((token) => token.connection === connection);
    },

    /** Returns false if another token already has the prefix. */
    async add(token: ScimToken): Promise<boolean> {
      const listed = { pk: tokensPartition(token.connection), sk: keyPart(token.prefix) };
      await table.put({ ...listed, prefix: token.prefix });
      return table.put({ ...tokenKey(token.prefix), ...OF_THIS_SCHEMA, ...plain(token) }, missing('pk'));
    },

    /** Makes a requested token valid, and adds the person to its creators. Has no effect on a revoked token. */
    async confirm(connection: ConnectionName, prefix: string, by: string): Promise<void> {
      const { creators = [] } = (await find(prefix)) ?? {};
      const change = { set: { creators: [...creators, by] }, remove: ['isRequested'] };
      const isOpen = all(equal('connection', connection), exists('isRequested'), missing('revokedMs'));
      await table.update(tokenKey(prefix), change, isOpen);
    },

    async revoke(connection: ConnectionName, prefix: string, atMs: number): Promise<boolean> {
      const change = { setIfMissing: { revokedMs: atMs } };
      return (await table.update(tokenKey(prefix), change, equal('connection', connection))).written;
    },

    /** Sets the expiry of a token of the connection to this time. An earlier expiry stays. */
    async endBy(connection: ConnectionName, prefix: string, atMs: number): Promise<void> {
      await table.update(
        tokenKey(prefix),
        { set: { expiresMs: atMs } },
        all(equal('connection', connection), any(missing('expiresMs'), greater('expiresMs', atMs))),
      );
    },

    /** Notes the use of a token. If a use since `unlessSinceMs` is already noted, the note stays as it is. */
    async noteUse(
      prefix: string,
      { atMs, unlessSinceMs }: { readonly atMs: number; readonly unlessSinceMs: number },
    ) {
      await table.update(
        tokenKey(prefix),
        { set: { lastUsedMs: atMs } },
        all(equal('prefix', prefix), any(missing('lastUsedMs'), less('lastUsedMs', unlessSinceMs))),
      );
    },
  };
}

const parseToken = (item: Item): ScimToken => understood(ScimToken, item, 'a SCIM token');
const parseAccess = (item: Item): ScimAccess => understood(ScimAccess, item, 'a SCIM access token');
