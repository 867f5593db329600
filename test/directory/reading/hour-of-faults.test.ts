import { describe, expect, it } from 'vitest';
import { DirectoryError } from '../../../shared/directory/ports.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, openEntraReader, openReader, platformGroupsOf } from './fixture.ts';

const world = company({ rowing: ['a', 'b'], chess: ['c', 'd'] });

/** The requests of lists of members, and a list of members that ends after the first member, or is empty. */
const VENDORS = {
  google: {
    open: async () => {
      const reader = await openReader({ world });
      return { ...reader, control: reader.google.control };
    },
    path: '*/members',
    listOf: (members: readonly string[]) => ({
      kind: 'admin#directory#members',
      members: members.map((id) => ({ id, type: 'USER', email: `${id}@acme.test`, status: 'ACTIVE' })),
    }),
  },
  entra: {
    open: async () => {
      const reader = await openEntraReader({ world });
      return { ...reader, control: reader.entra.control };
    },
    path: '*/members/microsoft.graph.user',
    listOf: (members: readonly string[]) => ({
      '@odata.context': 'https://graph.microsoft.com/v1.0/$metadata#users',
      '@odata.count': 2,
      value: members.map((id) => ({ id, userPrincipalName: `${id}@acme.test`, accountEnabled: true })),
    }),
  },
};

describe.each(Object.entries(VENDORS))(
  'an hour of wrong lists of members of %s',
  (_, { open, path, listOf }) => {
    it.each([
      ['the status 429', { status: 429, body: {} }],
      ['the status 503', { status: 503, body: {} }],
      ['a page of HTML', { status: 200, body: '<html><body>Sign in</body></html>' }],
      ['{}', { status: 200, body: {} }],
      ['[]', { status: 200, body: [] }],
      ['lists that are cut and have a count', { status: 200, body: listOf(['a']) }],
      ['lists that are empty in all groups and have a count', { status: 200, body: listOf([]) }],
    ])('removes no member, and the next change reaches the platform: %s', async (_name, fault) => {
      const reader = await open();
      await reader.hire('a', 'b', 'c', 'd');
      await reader.passMinutes(60);
      const before = platformGroupsOf(reader);
      expect(before.map(({ users }) => users)).toEqual([
        ['u-a', 'u-b'],
        ['u-c', 'u-d'],
      ]);
      await reader.control('faults', [{ match: { path }, times: 100_000, ...fault }]);
      await reader.run({ isFull: true }).catch(() => {});
      for (let minute = 0; minute < 60; minute += 5) {
        const failure = await reader.run().then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure !== undefined) expect(failure).toBeInstanceOf(DirectoryError);
        await reader.pass(5 * MINUTE_MS);
      }
      const shown = platformGroupsOf(reader).map(({ users }) => users);
      for (const [at, { users }] of before.entries())
        expect(shown[at]).toEqual(expect.arrayContaining(users));
      await reader.control('faults', []);
      await reader.change({ kind: 'removeMember', group: 'chess', member: 'd@acme.test' });
      await reader.passMinutes(120);
      expect(platformGroupsOf(reader).map(({ users }) => users)).toEqual([['u-a', 'u-b'], ['u-c']]);
    });
  },
);
