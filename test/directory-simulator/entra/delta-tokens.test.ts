import { describe, expect, it } from 'vitest';
import { DAY_MS, readAll, startEntra } from './fixture.ts';

describe('tokens of changes', () => {
  it.each(['syncStateNotFound', 'resyncRequired'])(
    'a control lets delta tokens expire with the error %s, and the answer has the address for a new first request',
    async (error) => {
      const entra = startEntra();
      const { deltaLink } = await readAll(entra, 'groups/delta');
      await entra.control('delta-tokens/expire', { error });
      const { status, json, headers } = await entra.get(deltaLink);
      expect([status, json.error.code]).toEqual([410, error]);
      expect(headers.location).toBe('http://127.0.0.1/v1.0/groups/delta?$deltatoken=');
      expect((await readAll(entra, String(headers.location))).items).toHaveLength(6);
    },
  );

  it('a delta token expires after seven days', async () => {
    const entra = startEntra();
    const { deltaLink } = await readAll(entra, 'users/delta');
    entra.clock.ms += 7 * DAY_MS;
    entra.forgetToken();
    expect((await entra.get(deltaLink)).status).toBe(200);
    entra.clock.ms += 1;
    entra.forgetToken();
    expect((await entra.get(deltaLink)).json.error.code).toBe('syncStateNotFound');
  });
});
