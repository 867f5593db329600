import * as z from 'zod';
import type { ActivityEvent } from '../../domain/drift.ts';
import { type Frozen, number, text, texts } from '../../domain/forms.ts';
import type { ConnectionName, PlatformGroupId } from '../../domain/ids.ts';

/** How far the activity feed was read. */
export const FeedPosition = z.lazy(() =>
  z.object({
    cursor: text.nullable(),
    /** Ids of the newest events, which a repeated end, or a restart at `lastEventAt`, may bring again. */
    recentIds: texts,
    /** Timestamp of the newest event read, as the feed gave it; none that was in the future then. */
    lastEventAt: text.nullable(),
    /** When the feed was last read to its end; before that, when it was first begun. */
    readAtMs: number,
    /** When this position was written: up to then the numbers of drift have been reported. */
    writtenAtMs: number,
    /** The next run must compare everything, because events may have been missed. */
    needsSweep: z.boolean(),
  }),
);
export type FeedPosition = Frozen<z.infer<typeof FeedPosition>>;

/** An exclusive right for a limited time. A later holder has a greater `token`. */
export interface Lease {
  readonly name: string;
  readonly token: number;
}

export interface Leases {
  /** undefined while another holds it. */
  take(
    connection: ConnectionName,
    name: string,
    span: { readonly nowMs: number; readonly lengthMs: number },
  ): Promise<Lease | undefined>;
  /** Ends it early; nothing happens if it is no longer ours. */
  release(connection: ConnectionName, lease: Lease): Promise<void>;
}

export interface FeedStore {
  /** undefined before the first step of the first run. */
  read(connection: ConnectionName): Promise<FeedPosition | undefined>;
  /**
   * Begins a run: from now on no holder of an earlier lease can write, wherever it was paused.
   * @returns undefined if a later holder has begun already
   */
  begin(
    connection: ConnectionName,
    lease: Lease,
  ): Promise<{ readonly position: FeedPosition | undefined } | undefined>;
  /** false if a later holder of the lease has written: this one was paused too long, and must stop. */
  write(connection: ConnectionName, position: FeedPosition, lease: Lease): Promise<boolean>;
}

/** One event of the feed, as far as groups need it. */
export interface FeedEvent extends ActivityEvent {
  readonly groups: readonly PlatformGroupId[];
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** null if none has come yet. */
  readonly next: string | null;
  readonly done: boolean;
}
