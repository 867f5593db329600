import { expect, it } from 'vitest';
import type { GroupRef } from '../../shared/domain/ids.ts';
import { claimGroup } from '../../shared/sync/claim-group.ts';

it('claimGroup succeeds if another worker claims the platform group for the same directory group at the same time', async () => {
  const owner = { connection: 'a-again', group: 'G5' } as GroupRef;
  let claims = 0;
  const ports = {
    claims: {
      claim: async () => {
        claims += 1;
        return claims > 1;
      },
      owners: async () => ({ now: new Map([['p1', owner]]), before: new Map() }),
      takeOver: async () => false,
    },
    connections: { current: async () => ({}) },
    groups: {},
  };
  const claiming = { company: 'acme', id: 'p1', owner } as never;
  expect(await claimGroup(claiming, ports as never)).toBeUndefined();
});
