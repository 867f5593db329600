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
    /** The number of closings in a row since the gate was last open. The backoff grows with this number. */
    closings: number,
    /** The version of the secret that the platform refused. A new version opens the gate. */
    secretVersion: text.exactOptional(),
    /** The time of the first refusal of `secretVersion`. The tokens are not refreshed within an hour after it. */
    refusedAtMs: number.exactOptional(),
    /** Groups that failed in a row, although the connection itself works. The success of any group empties the list. */
    failing: z.array(groupText).exactOptional(),
    /** The only group that may be written while the gate is half-open. */
    canary: groupText.exactOptional(),
    /**
     * Set if `/me` succeeds but the platform refuses calls about groups. The check before the gate opens then also
     * fetches this group and the list of groups.
     */
    witness: platformGroupText.exactOptional(),
    /** Whether the gate has just opened. Groups that failed while it was closed are then due immediately. */
    backlog: z.boolean().exactOptional(),
    /**
     * Endpoints whose calls fail now or failed recently. A write without this field keeps the stored value. A write
     * with `[]` removes the value.
     */
    failingCalls: z.array(FailingCalls).exactOptional(),
  }),
);
export type Gate = Frozen<z.infer<typeof Gate>>;

export const OPEN_GATE: Gate = { state: 'open', closings: 0 };
export const REOPENED_GATE: Gate = { ...OPEN_GATE, backlog: true };
