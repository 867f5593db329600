import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, vi } from 'vitest';
import { createClient, NotFoundError } from '../../cli/platform-client.ts';
import { createSimulator } from '../../local/platform/simulator.ts';
import { temporaryFolder } from '../support/folder.ts';

const WORLD = {
  companies: [
    {
      id: 'acme',
      name: 'Acme',
      employees: [{ id: 'r1', userId: 'u1', name: 'Ann Archer' }],
      groups: [{ id: 'g1', name: 'Admins', spokeId: '00g1', users: ['u1'], version: 'v1' }],
    },
  ],
  credentials: [{ token: 'secret', kind: 'oauth_app' as const, company: 'acme' }],
};

it('the example of docs/platform-client.md adds a user to a group', async () => {
  const [, example = ''] = /```js\n(.*?)```/s.exec(readFileSync('docs/platform-client.md', 'utf8')) ?? [];
  const simulator = createSimulator({
    world: WORLD,
    clock: Date.now,
    newId: () => 'id',
  });
  const { url } = await simulator.listen();
  const file = join(temporaryFolder(), 'example.mjs');
  const source = pathToFileURL(join(process.cwd(), 'cli/platform-client.ts')).href;
  writeFileSync(file, example.replace("'groupsync/platform'", `'${source}'`));
  vi.stubEnv('PLATFORM_URL', url);
  vi.stubEnv('PLATFORM_TOKEN', 'secret');
  const print = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  await import(/* @vite-ignore */ file);
  expect(print).toHaveBeenCalledWith('r1', 'Ann Archer');
  const client = createClient({ baseUrl: url, token: 'secret' });
  expect(await client.groups.get('g1')).toMatchObject({ users: ['u1', 'user-2'] });
  await expect(client.groups.get('g2')).rejects.toBeInstanceOf(NotFoundError);
  await client.close();
  await simulator.close();
});
