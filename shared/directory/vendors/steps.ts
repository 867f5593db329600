import { DirectoryError, type DirectoryStep, type DirectoryStepName } from '../ports.ts';

type Outcome<Value> = { readonly value: Value } | { readonly failure: NonNullable<DirectoryStep['failure']> };

/** Returns the result of a call, or the DirectoryError of the call. Any other error is thrown. */
export async function attempt<Value>(run: () => Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { value: await run() };
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error;
    const { kind, message, reason } = error;
    return { failure: { kind, message, reason } };
  }
}

export const stepOf = (step: DirectoryStepName, outcome: Outcome<unknown>): DirectoryStep => ({
  step,
  failure: 'failure' in outcome ? outcome.failure : undefined,
});

/** Returns the step with what it found, if it works. */
export const withDetail = (step: DirectoryStep, detail: string): DirectoryStep =>
  step.failure === undefined ? { ...step, detail } : step;

/** Returns the first page of a list; undefined for a list without pages. */
export async function firstOf<Page>(pages: AsyncIterable<Page>): Promise<Page | undefined> {
  for await (const page of pages) return page;
  return undefined;
}

/** Returns the result of `read`; undefined if the directory does not have the object. */
export async function unlessMissing<Found>(read: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DirectoryError && error.kind === 'missing') return undefined;
    throw error;
  }
}
