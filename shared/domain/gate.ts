import * as z from 'zod';
import { FailingCalls } from './failing-calls.ts';
import { type Frozen, groupText, number, platformGroupText, text } from './forms.ts';

/** The circuit breaker of a connection. */
export const Gate = z.lazy(() =>
  z.object({
    state: z.enum(['open', 'backoff', 'unauthorized', 'paused']),
    reason: text.exactOptional(),
    sinceMs: number.exactOptional(),
    /** The time of the next attempt. */
    untilMs: number.exactOptional(),
    /** The number of closings in a row that the gate made by itself. The backoff grows with this number. */
    closings: number,
    /** The version of the secret that the platform refused. Another version opens the gate. */
    secretVersion: text.exactOptional(),
    /** The time at which the tokens of the secret were last refreshed without success. */
    refusedAtMs: number.exactOptional(),
    /**
     * Groups that failed without a success in between, although the connection itself answered. The latest group is
     * last.
     */
    failing: z.array(groupText).exactOptional(),
    /** The only group that may be written while the gate is half-open. */
    canary: groupText.exactOptional(),
    /**
     * Set if `/me` works but the platform refuses the calls for groups. The check of the gate then fetches this group
     * and the list of groups too.
     */
    witness: platformGroupText.exactOptional(),
    /**
     * Whether the gate has just opened. Groups that failed while the gate was closed become due without waiting for
     * their own backoff.
     */
    backlog: z.boolean().exactOptional(),
    /**
     * Endpoints whose calls fail, or failed until recently. A write without this field keeps the stored value. `[]`
     * removes the value.
     */
    failingCalls: z.array(FailingCalls).exactOptional(),
  }),
);
export type Gate = Frozen<z.infer<typeof Gate>>;

export const OPEN_GATE: Gate = { state: 'open', closings: 0 };
/** A gate that has opened again, with a backlog of waiting groups. */
export const REOPENED_GATE: Gate = { ...OPEN_GATE, backlog: true };
