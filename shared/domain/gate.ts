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
    /** How many times in a row the gate has closed without an operator's action. The backoff grows with this number. */
    closings: number,
    /** The version of the secret that the platform refused. Another version opens the gate. */
    secretVersion: text.exactOptional(),
    /** The time at which the tokens of the secret were last refreshed without success. */
    refusedAtMs: number.exactOptional(),
    /**
     * Groups that failed one after the other, although the connection itself works. The latest group is last. The
     * success of a group empties the list.
     */
    failing: z.array(groupText).exactOptional(),
    /** The only group that may be written while the gate is half-open. */
    canary: groupText.exactOptional(),
    /**
     * Set if `/me` succeeds but the platform refuses calls about groups. Before the gate opens, the check then also
     * fetches this group and the list of groups.
     */
    witness: platformGroupText.exactOptional(),
    /**
     * Whether the gate has just opened. Groups that failed while the gate was closed are then due immediately, without
     * their own backoff.
     */
    backlog: z.boolean().exactOptional(),
    /**
     * Endpoints whose calls fail, or failed until recently. If a write omits this field, the stored value stays. `[]`
     * removes the value.
     */
    failingCalls: z.array(FailingCalls).exactOptional(),
  }),
);
export type Gate = Frozen<z.infer<typeof Gate>>;

export const OPEN_GATE: Gate = { state: 'open', closings: 0 };
export const REOPENED_GATE: Gate = { ...OPEN_GATE, backlog: true };
