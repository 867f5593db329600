import { describe, expect, it } from 'vitest';
import { batchOutcome } from '../../local/batch-outcome.ts';

const IDS = ['a', 'b', 'c'];
const answer = (value: unknown) => batchOutcome(IDS, { ok: true, payload: JSON.stringify(value) });
const failures = (...ids: unknown[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

describe('batchOutcome', () => {
  it.each([
    ['null', null],
    ['an empty object', {}],
    ['an empty list', failures()],
    ['a null list', { batchItemFailures: null }],
  ])('counts %s as success', (_, value) => {
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
  ])('returns the whole batch for %s', (_, value) => {
    expect(answer(value)).toEqual({ done: [], failed: IDS, error: expect.any(String) });
  });

  it('returns the whole batch for an error, and names the error', () => {
    const result = { ok: false, errorType: 'TypeError', errorMessage: 'broken' } as const;
    expect(batchOutcome(IDS, result)).toEqual({ done: [], failed: IDS, error: 'TypeError: broken' });
  });

  it('returns each named message once, and deletes the others', () => {
    expect(answer(failures('b', 'b'))).toEqual({ done: ['a', 'c'], failed: ['b'] });
  });
});
