import * as z from 'zod';
import { FailingCalls } from './failing-calls.ts';
import { type Frozen, groupText, number, platformGroupText, text } from './forms.ts';

/** The circuit breaker of a connection. */
export const Gate = z.lazy(() =>
  z.object({
    state: z.enum(['open', 'backoff', 'unauthorized', 'paused']),
    reason: text.exactOptional(),
    sinceMs: number.exactOptional(),
    /** When to try again. */
    untilMs: number.exactOptional(),
    /** How often in a row it closed by itself; the backoff grows with it. */
    closings: number,
    /** The version of the secret that the platform refused; another version opens the gate. */
    secretVersion: text.exactOptional(),
    /** When its tokens were last refreshed without success. */
    refusedAtMs: number.exactOptional(),
    /** Groups that failed without a success in between, latest last, although the connection itself answered well. */
    failing: z.array(groupText).exactOptional(),
    /** Half-open: only this group may be written. */
    canary: groupText.exactOptional(),
    /** Set if `/me` works but the platform refuses its groups: this group, and the list, are fetched as the test. */
    witness: platformGroupText.exactOptional(),
    /** It has just opened: groups that failed behind it become due without waiting for their own backoff. */
    backlog: z.boolean().exactOptional(),
    /** Endpoints whose calls fail, or failed until recently. A write without this field keeps the stored value; `[]` removes it. */
    failingCalls: z.array(FailingCalls).exactOptional(),
  }),
);
export type Gate = Frozen<z.infer<typeof Gate>>;

export const OPEN_GATE: Gate = { state: 'open', closings: 0 };
/** A gate that has opened again, with a backlog behind it. */
export const REOPENED_GATE: Gate = { ...OPEN_GATE, backlog: true };
