import pMap from 'p-map';

export interface Gathering<Question, Answer> {
  /** Questions that one request may carry. */
  readonly most: number;
  readonly requestsInFlight: number;
  /** @returns one answer for each question, in their order */
  readonly ask: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  /** Whether a failure may be one question's own fault; then each is asked alone, so that no other fails with it. */
  readonly mayBeOnesFault: (cause: unknown) => boolean;
}

interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Sends together what independent callers ask in one turn of the event loop. Callers see what they would see alone, in
 * fewer requests: nothing is kept from one turn to the next, so an answer is never older than its question.
 */
export function gathering<Question, Answer>(
  options: Gathering<Question, Answer>,
): (question: Question) => Promise<Answer> {
  const { most, requestsInFlight, ask, mayBeOnesFault } = options;
  let waiting: Waiting<Question, Answer>[] = [];

  const answer = async (batch: readonly Waiting<Question, Answer>[]): Promise<void> => {
    try {
      const answers = await ask(batch.map(({ question }) => question));
      for (const [position, { resolve }] of batch.entries()) resolve(answers[position] as Answer);
    } catch (cause) {
      if (batch.length > 1 && mayBeOnesFault(cause)) {
        await pMap(batch, (one) => answer([one]), { concurrency: requestsInFlight });
      } else for (const { reject } of batch) reject(cause);
    }
  };
  const sendAll = async (): Promise<void> => {
    const all = waiting;
    waiting = [];
    const batches = Array.from({ length: Math.ceil(all.length / most) }, (_, index) =>
      all.slice(index * most, (index + 1) * most),
    );
    await pMap(batches, answer, { concurrency: requestsInFlight });
  };

  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(() => void sendAll());
      waiting.push({ question, resolve, reject });
    });
}
