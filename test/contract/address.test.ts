import { expect, it } from 'vitest';
import { addressForm } from '../../shared/contract/address.ts';
import { parseMatchRule, soughtValues } from '../../shared/contract/match-rule.ts';

it.each([
  ['invisible signs around it', '\u200bben@acme.example\u00a0', 'ben@acme.example'],
  ['final sigma', 'ΟΔΟΣ@acme.example', 'οδος@acme.example'],
  ['capital I with a dot, and i with a combining dot', 'İpek@acme.test', 'i\u0307pek@acme.test'],
  ['capital sharp s, and sharp s', 'GROẞ@acme.test', 'groß@acme.test'],
  ['a final sigma in the middle of a word', 'οδοςα@acme.test', 'ΟΔΟΣΑ@acme.test'],
  ['the sign for kelvin, and k', '\u212aim@acme.test', 'kim@acme.test'],
  ['decomposed characters', 'ju\u0308rgen@acme.test', 'jürgen@acme.test'],
  ['punycode in capitals', 'ann@XN--MNCHEN-3YA.example', 'ann@münchen.example'],
  ['a decomposed domain', 'ann@mu\u0308nchen.example', 'ann@münchen.example'],
  ['a final dot of the domain', 'ann@münchen.example.', 'ann@münchen.example'],
  ['an ideographic dot in the domain', 'ann@例え。example', 'ann@例え.example'],
])('two addresses have the same compared form despite %s', (_, one, other) => {
  expect(addressForm(one)).toBe(addressForm(other));
});

it.each([
  ['sharp s and double s', 'straße@acme.example', 'strasse@acme.example'],
  ['dotless i and i', 'ılker@acme.example', 'ilker@acme.example'],
  ['accents', 'jurgen@acme.example', 'jürgen@acme.example'],
  ['Cyrillic characters that look alike', 'аnn@acme.example', 'ann@acme.example'],
  ['full-width characters', 'ａnn@acme.example', 'ann@acme.example'],
  ['a tag after a plus sign', 'ann+hr@acme.example', 'ann@acme.example'],
  ['sharp s in a domain', 'ann@faß.example', 'ann@fass.example'],
  ['capital I with a dot, and i', 'İpek@acme.test', 'ipek@acme.test'],
  ['capital sharp s, and double s', 'GROẞ@acme.test', 'gross@acme.test'],
  ['an invisible character in the local part', 'an\u200bn@acme.test', 'ann@acme.test'],
  ['an invisible character in the domain', 'ann@ac\u200bme.test', 'ann@acme.test'],
  ['a dot at the end of the local part', 'ann.@acme.test', 'ann@acme.test'],
  ['two dots at the end of the domain', 'ann@acme.test..', 'ann@acme.test'],
  ['ligatures', 'ﬁona@acme.test', 'fiona@acme.test'],
  ['a full-width at sign', 'ann＠acme.test', 'ann@acme.test'],
  ['a Greek character that looks Latin', 'ν@acme.test', 'v@acme.test'],
  ['a subdomain', 'ann@mail.acme.test', 'ann@acme.test'],
  ['two numeric notations of one host', 'ann@1.2', 'ann@1.0.0.2'],
])('two addresses have different compared forms because of %s', (_, one, other) => {
  expect(addressForm(one)).not.toBe(addressForm(other));
});

it('two equal addresses stay equal after thousands of other comparisons', () => {
  for (let call = 0; call < 20_000; call += 1)
    if (addressForm(`ann@ü${call % 10}.example`) !== addressForm(`ann@Ü${call % 10}.example`))
      expect.fail(`call ${call} differs`);
  expect(addressForm('ann@ü.example')).toBe('ann@xn--tda.example');
});

it('two characters have the same form if and only if they differ at most in case', () => {
  const characters = Array.from({ length: 0x1_ffff }, (_, code) => code)
    .filter((code) => code < 0xd800 || code > 0xdfff)
    .map((code) => String.fromCodePoint(code))
    .filter(
      (character) => /[\p{L}\p{M}\p{N}\p{S}]/u.test(character) && character.normalize('NFC') === character,
    );
  const differing = characters.flatMap((character) => {
    const isSame = new RegExp(`^${/[$+^|]/.test(character) ? '\\' : ''}${character}$`, 'iu');
    return [character.toLowerCase(), character.toUpperCase()]
      .filter((other) => Array.from(other).length === 1)
      .filter((other) => isSame.test(other) !== (addressForm(other) === addressForm(character)));
  });
  expect(differing).toEqual([]);
});

const attributes = new Map([
  ['email', { value: 'Ann@ACME.example' }],
  ['otherEmails', { value: ' ann.a@acme.example  A.Archer@acme.example' }],
]);
const sought = (rule: string) => {
  const parsed = parseMatchRule(rule);
  return parsed && soughtValues(parsed, { member: 'm-1', attributes });
};

it('soughtValues returns the value of the attribute, and for otherEmails each address in order', () => {
  expect(sought('email=workEmail')).toEqual(['ann@acme.example']);
  expect(sought('otherEmails=workEmail')).toEqual(['ann.a@acme.example', 'a.archer@acme.example']);
  expect(sought('id=employeeNumber')).toEqual(['m-1']);
  expect(sought('nickName=workEmail')).toEqual([]);
});
