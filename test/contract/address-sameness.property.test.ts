import punycode from 'node:punycode';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { addressForm } from '../../shared/contract/address.ts';

/**
 * These tests compare addresses without the code of `addressForm`: characters by the `iu` flags of regular expressions
 * (simple case folding of Unicode), and domains by the punycode of Node.
 */
const CHARACTERS = Array.from('sSſßẞσςΣiIıkK\u212aåÅ\u212beéüÜǆǅǄµμθϑϴбБაᲐꭰᎠ𐐨𐐀日½1');
const text = fc
  .array(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 4 })
  .map((all) => all.join(''));
const around = fc.constantFrom('', ' ', '\u00a0', '\u200b', '\ufeff', '\u200f', '\u00ad', '\r\n');

const isSameButForCase = (one: string, other: string): boolean =>
  new RegExp(`^${one.normalize('NFC')}$`, 'iu').test(other.normalize('NFC'));

const label = (characters: string) =>
  fc
    .array(fc.constantFrom(...characters), { minLength: 1, maxLength: 10 })
    .map((all) => all.join('').normalize('NFC'));
const host = fc
  .tuple(
    fc.oneof(label('äöüéñçabc'), label('αβγδεσω'), label('бгджя'), label('例え日本')),
    fc.constantFrom('example', 'de'),
  )
  .map((labels) => labels.join('.'));

it('addresses with one domain are equal if and only if their local parts differ at most in case and composition', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const isOne = addressForm(`${one}@acme.example`) === addressForm(`${other}@acme.example`);
      expect(isOne).toBe(isSameButForCase(one, other));
    }),
    { numRuns: 2_000 },
  );
});

it('two equal addresses stay equal in another case or composition, or with spaces around them', () => {
  const inCase = (other: (character: string) => string) => (part: string) =>
    Array.from(part, (character) =>
      isSameButForCase(character, other(character)) ? other(character) : character,
    ).join('');
  const spellings = [
    (part: string) => part,
    (part: string) => part.normalize('NFD'),
    inCase((character) => character.toUpperCase()),
    inCase((character) => character.toLowerCase()),
  ];
  const spelling = fc.constantFrom(...spellings);
  fc.assert(
    fc.property(text, spelling, around, around, (one, spell, before, after) => {
      expect(addressForm(`${before}${spell(one)}@acme.example${after}`)).toBe(
        addressForm(`${one}@acme.example`),
      );
    }),
  );
});

it('two addresses are equal if the domain of one is in punycode, in capitals, decomposed or with a final dot', () => {
  fc.assert(
    fc.property(host, (domain) => {
      const form = addressForm(`ann@${domain}`);
      expect(form).toBe(`ann@${punycode.toASCII(domain)}`);
      for (const same of [
        punycode.toASCII(domain),
        domain.normalize('NFD'),
        `${domain}.`,
        domain.replace('.', '。'),
      ])
        expect(addressForm(`ann@${same}`)).toBe(form);
      expect(addressForm(`ann@${punycode.toASCII(domain).toUpperCase()}`)).toBe(form);
    }),
  );
});

it('two equal addresses stay equal after thousands of other comparisons', () => {
  for (let call = 0; call < 20_000; call += 1)
    if (addressForm(`ann@ü${call % 10}.example`) !== addressForm(`ann@Ü${call % 10}.example`))
      expect.fail(`call ${call} differs`);
  expect(addressForm('ann@ü.example')).toBe('ann@xn--tda.example');
});

it('addresses differ if their domains differ or one is a subdomain', () => {
  fc.assert(
    fc.property(host, host, (one, other) => {
      fc.pre(one !== other);
      expect(addressForm(`ann@${one}`)).not.toBe(addressForm(`ann@${other}`));
      expect(addressForm(`ann@${one}`)).not.toBe(addressForm(`ann@mail.${one}`));
    }),
  );
});
