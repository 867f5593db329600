import * as z from 'zod';
import { FailingCalls } from './failing-calls.ts';
import { type Frozen, groupText, number, platformGroupText, text } from './forms.ts';

/** The switch before the platform, one per connection. */
export const Gate = z.lazy(() =>
  z.object({
    state: z.enum(['open', 'backoff', 'unauthorized', 'paused']),
    reason: text.exactOptional(),
    sinceMs: number.exactOptional(),
    /** When to try again. */
    untilMs: number.exactOptional(),
    /** How often in a row it closed by itself: the back-off grows with it. */
    closings: number,
    /** The secret that was found wanting; another one opens the gate. */
    secretVersion: text.exactOptional(),
    /** When its tokens were last refreshed in vain. */
    refusedAtMs: number.exactOptional(),
    /** Groups that failed with no success in between, the latest last, though the connection itself seemed well. */
    failing: z.array(groupText).exactOptional(),
    /** Half-open: of all groups only this one may try. */
    canary: groupText.exactOptional(),
    /** Though `/me` is well, the platform refuses its groups: the one of ours, and the list, that are asked again. */
    witness: platformGroupText.exactOptional(),
    /** It has just opened: what failed behind it need not wait out its own back-off. */
    backlog: z.boolean().exactOptional(),
    /** Endpoints whose calls fail, or failed until recently. A write without this field keeps the stored value; `[]` removes it. */
    failingCalls: z.array(FailingCalls).exactOptional(),
  }),
);
export type Gate = Frozen<z.infer<typeof Gate>>;

export const OPEN_GATE: Gate = { state: 'open', closings: 0 };
/** A gate that has opened again, with a backlog behind it. */
export const REOPENED_GATE: Gate = { ...OPEN_GATE, backlog: true };
