import { expect, it } from 'vitest';
import { batchOutcome } from '../../local/batch-outcome.ts';

const IDS = ['a', 'b', 'c'];
const answer = (value: unknown) => batchOutcome(IDS, { ok: true, payload: JSON.stringify(value) });
const failures = (...ids: unknown[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

it.each([
  ['null', null],
  ['an empty object', {}],
  ['an empty list', failures()],
  ['a null list', { batchItemFailures: null }],
])('no message of the batch is returned for the handler result %s', (_, value) => {
  expect(answer(value)).toEqual({ done: IDS, failed: [] });
});

it.each([
  ['an empty id', failures('')],
  ['a null id', failures(null)],
  ['an unknown id', failures('a', 'x')],
  ['a wrong key', { batchItemFailures: [{ itemIdentifer: 'a' }] }],
  ['a text', 'ok'],
  ['a number', 7],
  ['a list', ['a']],
])('the whole batch is returned for the handler result %s', (_, value) => {
  expect(answer(value)).toEqual({ done: [], failed: IDS, error: expect.any(String) });
});

it('the whole batch is returned for an error of the handler, and the outcome names the error', () => {
  const result = { ok: false, errorType: 'TypeError', errorMessage: 'broken' } as const;
  expect(batchOutcome(IDS, result)).toEqual({ done: [], failed: IDS, error: 'TypeError: broken' });
});

it('each message that the handler names as failed is returned once, and the other messages are deleted', () => {
  expect(answer(failures('b', 'b'))).toEqual({ done: ['a', 'c'], failed: ['b'] });
});
