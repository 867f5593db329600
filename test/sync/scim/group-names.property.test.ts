import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimOf } from '../../../shared/sync/scim/indexing.ts';
import { replace } from '../../support/scim-operations.ts';
import { expectError } from './support/expect-error.ts';
import { createWorld } from './support/server.ts';

const WORDS = ['Café', 'Søren', 'Größe', 'Team', 'İstanbul', 'ΟΔΟΣ', '例え', '１', '1'];
const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 });
const gap = fc.constantFrom(' ', '  ', '\u00a0', '\t', ' \u200b', '\u3000');
const end = fc.constantFrom('', ' ', '\u00a0', '\u200b', '\ufeff', '\u00ad');
const claimed = (name: string) => claimOf(name, 'Group').value;

describe('group names from a SCIM client', () => {
  it('two names are equal if they differ only in composition, case of Latin characters, spaces and invisible characters', () => {
    fc.assert(
      fc.property(words, gap, end, end, fc.boolean(), (parts, between, before, after, isDecomposed) => {
        const other = `${before}${parts.join(between)}${after}`;
        const plain = claimed(parts.join(' '));
        expect(claimed(isDecomposed ? other.normalize('NFD') : other)).toBe(plain);
        expect(claimed(other.replace(/[a-z]/g, (character) => character.toUpperCase()))).toBe(plain);
      }),
    );
  });

  it('two names differ if their words differ, or if one name lacks the spaces between words', () => {
    fc.assert(
      fc.property(words, words, (one, other) => {
        fc.pre(one.join(' ') !== other.join(' '));
        expect(claimed(one.join(' '))).not.toBe(claimed(other.join(' ')));
        if (one.length > 1) expect(claimed(one.join(''))).not.toBe(claimed(one.join(' ')));
      }),
    );
  });

  it.each([
    ['T91 a ', 'T91 a'],
    ['T91  b', 'T91 b'],
    ['T91\u00a0c', ' T91 c'],
    ['T91 Cafe\u0301', 't91 caf\u00e9'],
    ['T91\u200bd', 'T91d'],
  ])(
    'a client that looks for %j finds the group %j, and the refusal of the name names its id',
    async (one, other) => {
      for (const [stored, wanted] of [
        [one, other],
        [other, one],
      ] as const) {
        const client = await createWorld().client();
        const { id } = (await client.post('/Groups', { displayName: stored })).body;
        const { id: second } = (await client.post('/Groups', { displayName: 'Second' })).body;
        for (const filter of ['eq', 'ge', 'le'].map(
          (operator) => `displayName ${operator} ${JSON.stringify(wanted)}`,
        )) {
          for (const { body } of [
            await client.get(`/Groups?filter=${encodeURIComponent(`${filter} and displayName sw "t9"`)}`),
            await client.post('/Groups/.search', { filter: `${filter} and not (displayName eq "second")` }),
          ])
            expect(body.Resources).toMatchObject([{ id }]);
        }
        const data = { displayName: wanted };
        const bulk = { Operations: [{ method: 'POST', path: '/Groups', bulkId: 'b', data }] };
        const inBulk = (await client.post('/Bulk', bulk)).body.Operations[0].response;
        expect(inBulk).toMatchObject({ status: '409', detail: expect.stringContaining(id) });
        for (const refused of [
          await client.post('/Groups', data),
          await client.put(`/Groups/${second}`, data),
          await client.patch(`/Groups/${second}`, [replace('displayName', wanted)]),
        ]) {
          expectError(refused, 409, 'uniqueness');
          expect(refused.body.detail).toContain(`the Group with the id ${id} has it`);
        }
      }
    },
  );

  it('a filter by a part of a name compares the spaces at the ends of the part', async () => {
    const client = await createWorld().client();
    for (const displayName of ['Team One', 'Teams']) await client.post('/Groups', { displayName });
    const found = await client.get(`/Groups?filter=${encodeURIComponent('displayName sw "team "')}`);
    expect(found.body.Resources).toMatchObject([{ displayName: 'Team One' }]);
  });
});
