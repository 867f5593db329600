import { ScimToken, type ScimTokenStore } from '../sync/ports/scim.ts';
import { OF_THIS_SCHEMA, understood } from './item-form.ts';
import { tokenKey, tokenListKey, tokensPartition } from './scim-keys.ts';
import { all, any, equal, type Item, itemsOf, less, missing, type Table } from './table.ts';

/** A token is found by its prefix, before anybody knows whose it is; a list entry written before it finds it again. */
export function createScimTokenStore(table: Table): ScimTokenStore {
  const find = async (prefix: string) => {
    const item = await table.get(tokenKey(prefix));
    return item === undefined ? undefined : parseToken(item);
  };

  return {
    find,

    async list(connection) {
      const listed = await itemsOf(table, { partition: tokensPartition(connection) });
      const items = await table.getMany(listed.map(({ prefix }) => tokenKey(String(prefix))));
      return items.map(parseToken).filter((token) => token.connection === connection);
    },

    async add(token) {
      await table.put({ ...tokenListKey(token.connection, token.prefix), prefix: token.prefix });
      return table.put({ ...tokenKey(token.prefix), ...OF_THIS_SCHEMA, ...token }, missing('pk'));
    },

    async revoke(connection, prefix, atMs) {
      const { written } = await table.update(
        tokenKey(prefix),
        { setIfMissing: { revokedMs: atMs } },
        equal('connection', connection),
      );
      return written;
    },

    async noteUse(prefix, { atMs, unlessSinceMs }) {
      await table.update(
        tokenKey(prefix),
        { set: { lastUsedMs: atMs } },
        all(equal('prefix', prefix), any(missing('lastUsedMs'), less('lastUsedMs', unlessSinceMs))),
      );
    },
  };
}

const parseToken = (item: Item): ScimToken => understood(ScimToken, item, 'a SCIM token');
