import * as z from 'zod';
import type { ActivityEvent } from '../../domain/drift.ts';
import { type Frozen, number, text, texts } from '../../domain/forms.ts';
import type { PlatformGroupId } from '../../domain/ids.ts';

export const FeedPosition = z.lazy(() =>
  z.object({
    cursor: text.nullable(),
    /** Ids of the newest events, which a repeated last page or a start at `lastEventAt` returns again. */
    recentIds: texts,
    /** The timestamp of the newest read event, in the format of the feed. */
    lastEventAt: text.nullable(),
    /** The time of the last read up to the end of the feed; before that, the time of the first run. */
    readAtMs: number,
    /** The time of this write. Earlier reports have already counted the drift up to this time. */
    writtenAtMs: number,
    /** Whether the next run must compare all groups, because events may have been missed. */
    needsSweep: z.boolean(),
  }),
);
export type FeedPosition = Frozen<z.infer<typeof FeedPosition>>;

/** An exclusive right for a limited time. Each new holder gets a greater `token`. */
export interface Lease {
  readonly name: string;
  readonly token: number;
}

export interface FeedEvent extends ActivityEvent {
  readonly groups: readonly PlatformGroupId[];
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** The cursor after this page; null if the feed has not returned a cursor yet. */
  readonly next: string | null;
  readonly done: boolean;
}
