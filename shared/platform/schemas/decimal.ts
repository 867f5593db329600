import * as z from 'zod';

const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

/**
 * Returns an exact decimal in one canonical form: a text without exponent, plus sign, sign of zero, or unnecessary
 * zeros. `"7.50"`, `7.5` and `75e-1` all become `7.5`. Returns undefined if the text is not a decimal.
 */
export function canonicalDecimal(text: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = FORM.exec(text.trim()) ?? [];
  if (sign === undefined || whole + fraction === '') return undefined;
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  const before = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '';
  const after = point > 0 ? digits.slice(point) : digits.padStart(digits.length - point, '0');
  const left = before.replace(/^0+/, '') || '0';
  const right = after.replace(/0+$/, '');
  const value = right === '' ? left : `${left}.${right}`;
  return sign === '-' && value !== '0' ? `-${value}` : value;
}

/** A decimal. Some responses contain it as a string, others as a number. The result is canonical text. */
export const Decimal = z.union([z.string(), z.number()]).transform((value, context) => {
  const decimal = canonicalDecimal(String(value));
  if (decimal !== undefined) return decimal;
  context.addIssue({ code: 'custom', message: 'expected a decimal' });
  return z.NEVER;
});

const STRING_THEN_NUMBER = /("(?:[^"\\]|\\.)*")(?:(\s*:\s*)(-?\d[\d.eE+-]*))?/g;

/**
 * Puts the numbers in the given fields into quotes, so that `JSON.parse` does not round them: `{"balance":
 * 0.10000000000000000001}` becomes `{"balance": "0.10000000000000000001"}`. The content of a string is never changed.
 */
export function quoteNumbers(json: string, members: readonly string[]): string {
  const names = new Set(members.map((name) => JSON.stringify(name)));
  return json.replace(STRING_THEN_NUMBER, (all, name: string, colon?: string, number?: string) =>
    number !== undefined && names.has(name) ? `${name}${colon}"${number}"` : all,
  );
}
