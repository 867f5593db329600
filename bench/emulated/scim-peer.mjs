import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/* A server with SCIMMY and express, as in SCIMMY's documentation. The argument is the folder of the packages. */

const { resolve } = createRequire(join(process.argv[2], 'package.json'));
const load = async (name) => (await import(pathToFileURL(resolve(name)).href)).default;
const [express, SCIMMY, Routers] = [
  await load('express'),
  await load('scimmy'),
  await load('scimmy-routers'),
];

function inMemory(unique) {
  const items = new Map();
  const holders = new Set();
  const found = (id) => {
    if (!items.has(id)) throw new SCIMMY.Types.Error(404, null, 'no such resource');
    return items.get(id);
  };
  return {
    ingress({ id }, data) {
      const lastModified = new Date().toISOString();
      const given = JSON.parse(JSON.stringify(data));
      const name = String(given[unique]).toLowerCase();
      const before = id === undefined ? { id: randomUUID(), meta: { created: lastModified } } : found(id);
      if (id === undefined && holders.has(name)) throw new SCIMMY.Types.Error(409, 'uniqueness', 'taken');
      holders.add(name);
      const after = { ...before, ...given, id: before.id, meta: { ...before.meta, lastModified } };
      items.set(after.id, after);
      return after;
    },
    egress({ id, filter }) {
      if (id !== undefined) return found(id);
      return filter === undefined ? [...items.values()] : filter.match([...items.values()]);
    },
    degress: ({ id }) => void items.delete(id),
  };
}

SCIMMY.Resources.declare(SCIMMY.Resources.User, inMemory('userName'));
SCIMMY.Resources.declare(SCIMMY.Resources.Group, inMemory('displayName'));
const app = express();
app.use('/scim/v2', new Routers({ type: 'bearer', handler: () => 'bench' }));
const server = app.listen(0, '127.0.0.1', () => {
  process.send({ url: `http://127.0.0.1:${server.address().port}/scim/v2`, tokens: ['bench'] });
});
// A page takes this server several seconds. During this time, the server must not close idle connections.
server.keepAliveTimeout = 600_000;
