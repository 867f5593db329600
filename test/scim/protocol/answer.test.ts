import { expect, it } from 'vitest';
import { answerBytes } from '../../../shared/scim/protocol/answer.ts';

it.each([
  ['plain text', { id: 'a' }],
  ['quotes and backslashes', { id: 'a "b" \\c' }],
  ['line breaks and control characters', { id: 'a\nb\u0001' }],
  ['characters outside ASCII', { id: 'ä€😀' }],
  ['lists', { members: [{ value: 'x' }, { value: 'y', active: true, n: 1 }] }],
])('answerBytes returns the size of the response within the JSON of Lambda: %s', (_what, document) => {
  const body = JSON.stringify(document);
  expect(answerBytes(document)).toBe(Buffer.byteLength(JSON.stringify({ body })) - '{"body":""}'.length);
});
