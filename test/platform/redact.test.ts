import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { excerptOf, redact, safeCause } from '../../shared/platform/redact.ts';

it.each([
  ['a given secret', 'got s3cr3t here', ['s3cr3t'], 'got [redacted] here'],
  ['a bearer value', 'Authorization was Bearer abc.def-123', [], 'Authorization was Bearer [redacted]'],
  ['a basic value', 'basic dXNlcjpwYXNz', [], 'basic [redacted]'],
  ['a JSON token field', '{"access_token": "abc", "x": 1}', [], '{"access_token": [redacted], "x": 1}'],
  ['a form field', 'client_secret=abc&grant_type=x', [], 'client_secret=[redacted]&grant_type=x'],
  ['a password with an escaped quote', '{"password":"a\\"b","x":1}', [], '{"password":[redacted],"x":1}'],
  ['a JSON web token', 'eyJhbGciOi.eyJzdWIi.c2ln ok', [], '[redacted] ok'],
  ['a long sequence of characters that may be a token', `id ${'a1'.repeat(30)}.`, [], 'id [redacted].'],
  ['an e-mail address', 'user Ann.Lee+x@acme.test is unknown', [], 'user [e-mail] is unknown'],
  ['an e-mail address, percent-encoded', '?q=ann%40acme.test&x=1', [], '?q=[e-mail]&x=1'],
  ['control and bidi characters', 'a\u0000\u001b[31m\u061c\u202eb\nc', [], 'a [31m b c'],
])('redact removes %s', (_, text, secrets, expected) => {
  expect(redact(text, secrets)).toBe(expected);
});

it('redact keeps ids, which readers of logs need', () => {
  const text = 'group 5f9c1b2e8d4a6c0011223344, user 3f2504e0-4f89-11d3-9a0c-0305e82c3301 not found';
  expect(redact(text)).toBe(text);
});

it('excerptOf handles seven long hostile texts within two seconds', () => {
  const started = process.hrtime.bigint();
  for (const piece of ['a', '@', 'token', '"', 'eyJ-', '.a', '%40']) excerptOf(piece.repeat(200_000));
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(2000);
});

it('excerptOf returns at most 500 characters', () => {
  expect(excerptOf('x y '.repeat(1000))).toHaveLength(500);
});

it('excerptOf redacts a token before it cuts the text, so no part of the token remains', () => {
  const secret = 'half-a-secret';
  expect(excerptOf(`${'x '.repeat(247)}${secret}`, [secret])).not.toContain('half');
});

it('safeCause keeps name, code and stack of an error and its cause, without secrets and other properties', () => {
  const inner = new Error('header "Bearer s3cr3t" is bad');
  const properties = { code: 'E_X', headers: { a: 's3cr3t' } };
  const outer = Object.assign(new TypeError('s3cr3t', { cause: inner }), properties);
  const copy = safeCause(outer, ['s3cr3t']);
  expect(copy).toMatchObject({ name: 'TypeError', code: 'E_X', message: '[redacted]' });
  expect(inspect(copy, { depth: 9, showHidden: true })).not.toContain('s3cr3t');
  expect(inspect(copy)).toContain('redact.test.ts');
});
