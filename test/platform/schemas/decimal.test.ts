import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalDecimal, Decimal, quoteNumbers } from '../../../shared/platform/resources/leave.ts';
import { always } from '../../support/engine/runs.ts';

it.each([
  ['7.50', '7.5'],
  ['7.5', '7.5'],
  ['75e-1', '7.5'],
  ['0075', '75'],
  ['-0.00', '0'],
  ['+3', '3'],
  ['.5', '0.5'],
  ['5.', '5'],
  ['1e21', '1000000000000000000000'],
  ['1.25E-3', '0.00125'],
  ['-12.340', '-12.34'],
  ['0.10000000000000000001', '0.10000000000000000001'],
])('the canonical form of %s is %s', (text, expected) => {
  expect(canonicalDecimal(text)).toBe(expected);
});

it.each(['', '.', '-', 'NaN', 'Infinity', '1,5', '0x10', '1e', '1e99999', '1 2'])(
  '%j is not a decimal',
  (text) => {
    expect(canonicalDecimal(text)).toBeUndefined();
  },
);

always(
  'the canonical form of any JSON number is the same number',
  fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
    const decimal = canonicalDecimal(String(value));
    expect(Number(decimal)).toBe(value === 0 ? 0 : value);
    expect(decimal).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
  }),
  100,
);

it('quoteNumbers quotes the numbers of the given fields with all digits, and changes nothing else', () => {
  const json =
    '[{"other": 1.50, "amount" : 0.10000000000000000001,"amount":-1e-7, "note":"\\"amount\\": 5"}]';
  expect(quoteNumbers(json, ['amount'])).toBe(
    '[{"other": 1.50, "amount" : "0.10000000000000000001","amount":"-1e-7", "note":"\\"amount\\": 5"}]',
  );
});

always(
  'the quoted JSON has the same meaning for any value',
  fc.property(fc.jsonValue(), fc.double({ noNaN: true, noDefaultInfinity: true }), (other, amount) => {
    const parsed = JSON.parse(quoteNumbers(JSON.stringify({ other, amount }), ['amount']));
    expect(JSON.stringify(parsed.other)).toBe(JSON.stringify(other));
    expect(Decimal.parse(parsed.amount)).toBe(canonicalDecimal(String(amount)));
  }),
  100,
);
