import * as z from 'zod';
import type { InvocationResult } from './invocation.ts';

const BatchResponse = z
  .object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string().min(1) })).nullish() })
  .nullable();

/** The messages of a batch to delete, the messages to return to the queue, and the reason if the whole batch failed. */
interface BatchOutcome {
  readonly done: readonly string[];
  readonly failed: readonly string[];
  readonly error?: string;
}

/**
 * Reads a function's response to a batch (Lambda developer guide, "Success and failure conditions" of partial batch
 * responses):
 *
 *   response                                                   | result
 *   -----------------------------------------------------------|----------------------------------------
 *   error, no JSON object, or an entry without a known id      | the whole batch returns to the queue
 *   null, {}, empty or null batchItemFailures                  | all messages are deleted
 *   ids of messages in the batch                               | these messages return, the others are deleted
 */
export function batchOutcome(ids: readonly string[], result: InvocationResult): BatchOutcome {
  if (!result.ok) return allFailed(ids, `${result.errorType}: ${result.errorMessage}`);
  const response = BatchResponse.safeParse(JSON.parse(result.payload));
  if (!response.success) return allFailed(ids, 'the response does not have the form of a batch response');
  const failures = new Set(
    response.data?.batchItemFailures?.map(({ itemIdentifier }) => itemIdentifier) ?? [],
  );
  const known = new Set(ids);
  if ([...failures].some((id) => !known.has(id))) {
    return allFailed(ids, 'the response names a message that was not in the batch');
  }
  return { done: ids.filter((id) => !failures.has(id)), failed: [...failures] };
}

const allFailed = (ids: readonly string[], error: string): BatchOutcome => ({ done: [], failed: ids, error });
