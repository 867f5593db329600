import { expect, it } from 'vitest';
import { gathering } from '../../shared/store/dynamo-batches.ts';

function counting(options: { most?: number; refuses?: (question: number) => Error | undefined } = {}) {
  const asked: (readonly number[])[] = [];
  const ask = gathering<number, string>({
    most: options.most ?? 10,
    requestsInFlight: 2,
    ask: async (questions) => {
      asked.push(questions);
      for (const question of questions) {
        const refusal = options.refuses?.(question);
        if (refusal !== undefined) throw refusal;
      }
      return questions.map((question) => `answer ${question}`);
    },
    mayBeOnesFault: (cause) => cause instanceof RangeError,
  });
  return { ask, asked };
}

it('sends together what is asked in one turn, and gives each its own answer', async () => {
  const { ask, asked } = counting();
  expect(await Promise.all([ask(1), ask(2), ask(3)])).toEqual(['answer 1', 'answer 2', 'answer 3']);
  expect(asked).toEqual([[1, 2, 3]]);
});

it('asks anew in the next turn, also what was asked before', async () => {
  const { ask, asked } = counting();
  await ask(1);
  await ask(1);
  expect(asked).toEqual([[1], [1]]);
});

it('keeps to the size of a request', async () => {
  const { ask, asked } = counting({ most: 2 });
  await Promise.all([1, 2, 3, 4, 5].map(ask));
  expect(asked).toEqual([[1, 2], [3, 4], [5]]);
});

it('lets a question that is refused fail alone', async () => {
  const { ask } = counting({ refuses: (question) => (question === 2 ? new RangeError('2') : undefined) });
  const outcomes = await Promise.allSettled([ask(1), ask(2), ask(3)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('does not ask again one by one where the other side does not answer', async () => {
  const { ask, asked } = counting({ refuses: () => new Error('no answer') });
  const outcomes = await Promise.allSettled([ask(1), ask(2)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(asked).toHaveLength(1);
});
