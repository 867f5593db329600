import { expect, it } from 'vitest';
import { gathering } from '../../shared/store/dynamo-batches.ts';

it('if a whole request fails, all its keys fail, and no key is requested alone', async () => {
  const asked: (readonly number[])[] = [];
  const ask = gathering<number, number>(10, async (questions) => {
    asked.push(questions);
    if (questions.length > 1) throw new Error('no answer');
    return questions;
  });
  expect([await ask(1), await ask(1)]).toEqual([1, 1]);
  const outcomes = await Promise.allSettled([ask(2), ask(3)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(asked).toEqual([[1], [1], [2, 3]]);
});

it('if the table refuses a request of two keys, only the key that it refuses alone fails', async () => {
  const ask = gathering<number, number>(10, async (questions) => {
    if (questions.includes(3)) throw Object.assign(new Error(), { name: 'ValidationException' });
    return questions;
  });
  const outcomes = await Promise.allSettled([ask(2), ask(3)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});
