import { MockAgent } from 'undici';
import { expect, it } from 'vitest';
import { exchange } from '../../../shared/directory/vendors/exchange.ts';

it('an answer above 16 MiB is refused with the limit, and not retried as incomplete', async () => {
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  dispatcher
    .get('https://directory.test')
    .intercept({ path: '/groups' })
    .reply(200, Buffer.alloc(16 * 1_048_576 + 1, 'a'));
  const world = {
    dispatcher,
    clock: () => 0,
    random: () => 0,
    sleep: async () => {},
    webIdentity: async () => '',
  };
  const request = {
    method: 'GET',
    url: 'https://directory.test/groups',
    operation: 'groups.list',
    headers: {},
  } as const;
  await expect(exchange(request, world)).rejects.toMatchObject({
    kind: 'invalid',
    message: 'groups.list: expected at most 16777216 bytes',
  });
});
