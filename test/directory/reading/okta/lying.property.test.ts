import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../../support/engine/world.ts';
import { type Body, company, openOktaReader } from '../fixture.ts';

const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  rowing: ['a', 'b', 'c'],
  chess: ['b'],
  none: [],
};
const SCOPES = ['okta.groups.read', 'okta.users.read', 'okta.logs.read'];

const FAULT = fc.record({
  match: fc.record({
    path: fc.constantFrom(
      '*/groups/*/users',
      '/api/v1/groups',
      '/api/v1/groups/*',
      '/api/v1/users',
      '/api/v1/logs',
      '/oauth2/v1/token',
    ),
  }),
  times: fc.integer({ min: 1, max: 6 }),
  answer: fc.constantFrom<object>(
    { error: 'invalidToken' },
    { error: 'accessDenied' },
    { error: 'notFound' },
    { error: 'tooManyRequests' },
    { error: 'internalError' },
    { error: 'apiValidationFailed' },
    { status: 200, body: '[]' },
    { status: 200, body: '{}' },
    { status: 200, body: '[{"id":"00u1","sta' },
    { status: 200, body: '<html></html>' },
    { drop: 'after' },
  ),
});

/** A control call of the simulator that makes later answers wrong. */
const CONTROL = fc.constantFrom<readonly [string, object]>(
  ['page-tokens/expire', {}],
  ['access-tokens/expire', {}],
  ['counts', { group: 'rowing', count: 9 }],
  ['counts', { group: 'rowing', count: 0 }],
  ['counts', { group: 'rowing', count: null }],
  ['administrator', { resourceSet: ['rowing', 'chess'] }],
  ['administrator', { resourceSet: ['none'] }],
  ['administrator', { resourceSet: [] }],
  ['administrator', { role: 'USER_ADMIN' }],
  ['scopes', { scopes: ['okta.users.read'] }],
  ['scopes', { scopes: ['okta.groups.read'] }],
  ['settings', { dpop: 'everywhere' }],
);

const RIGHT: readonly (readonly [string, object])[] = [
  ['faults', []],
  ['counts', { group: 'rowing', count: 'right' }],
  ['administrator', { role: 'READ_ONLY_ADMIN', resourceSet: null }],
  ['scopes', { scopes: SCOPES }],
];

/** Returns the members that an event removes from a group although they are members in the directory. */
function wronglyRemoved({ type, data }: Body): readonly string[] {
  const named = new Set((data.members ?? []).map(({ id }) => id));
  const members = MEMBERS[data.group?.id ?? ''] ?? [];
  if (type === 'directory.group.deleted' || type === 'directory.user.deleted') return [type];
  if (type === 'directory.group.member.removed') return members.filter((id) => named.has(id));
  if (type === 'directory.group.snapshot') return members.filter((id) => !named.has(id));
  return data.user?.['scim:active'] === 'false' ? [type] : [];
}

it('wrong answers of Okta remove no current member and no group, and the platform finally equals the directory', async () => {
  const step = fc.oneof(FAULT, CONTROL);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), async (steps) => {
      const reader = await openOktaReader({ world: company(MEMBERS) });
      const { control } = reader.okta;
      await reader.hire('a', 'b', 'c');
      await reader.run();
      await reader.pass(MINUTE_MS);
      reader.takeSent();
      for (const one of steps) {
        if ('match' in one) await control('faults', [{ match: one.match, times: one.times, ...one.answer }]);
        else await control(...one);
        // A failed run causes an alarm and has no effect on the groups.
        await reader.run({ isFull: true }).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
        for (const event of reader.takeSent()) expect(wronglyRemoved(event)).toEqual([]);
        await reader.pass(11 * MINUTE_MS);
      }
      for (const one of RIGHT) await control(...one);
      await reader.change({ kind: 'removeMember', group: 'rowing', member: 'a' });
      await reader.pass(DAY_MS);
      for (let run = 0; run < 4; run += 1) {
        await reader.run();
        await reader.pass(11 * MINUTE_MS);
      }
      expect(Object.keys(MEMBERS).map(reader.shown)).toEqual([[['u-b', 'u-c']], [['u-b']], [[]]]);
    }),
    { numRuns: 10 },
  );
});
