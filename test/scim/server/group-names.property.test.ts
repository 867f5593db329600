import fc from 'fast-check';
import { expect, it } from 'vitest';
import { claimOf } from '../../../shared/scim/server/context.ts';
import { createWorld } from './support/server.ts';

const WORDS = ['Café', 'Søren', 'Größe', 'Team', 'İstanbul', 'ΟΔΟΣ', '例え', '１', '1'];
const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 });
const gap = fc.constantFrom(' ', '  ', '\u00a0', '\t', ' \u200b', '\u3000');
const end = fc.constantFrom('', ' ', '\u00a0', '\u200b', '\ufeff', '\u00ad');
const claimed = (name: string) => claimOf(name, 'Group').value;

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

it('a filter by a part of a name compares the spaces at the ends of the part', async () => {
  const client = await createWorld().client();
  for (const displayName of ['Team One', 'Teams']) await client.post('/Groups', { displayName });
  const found = await client.get(`/Groups?filter=${encodeURIComponent('displayName sw "team "')}`);
  expect(found.body.Resources).toMatchObject([{ displayName: 'Team One' }]);
});
