import { applyDelaySeconds } from '../../../shared/contract/topology.ts';
import type { GroupRef } from '../../../shared/domain/ids.ts';
import { laneOf, windowId } from '../../../shared/queues/lane.ts';
import type { IncomingMessage } from '../../../shared/sync/ingest/accept.ts';
import type { ApplyQueue } from '../../../shared/sync/ports/queue.ts';
import type { Worker } from './scheduler.ts';

export interface ApplyMessage {
  readonly ref: GroupRef;
  readonly lane: string;
  readonly visibleAtMs: number;
  receives: number;
}

const DEDUPLICATION_MS = 5 * 60_000;

/**
 * The apply queue as SQS promises it: a delay for every message, one message of a lane at a time, and a message with a
 * deduplication id of the last five minutes dropped, whether or not the earlier one was delivered meanwhile.
 */
export class FakeApplyQueue {
  readonly messages: ApplyMessage[] = [];
  readonly #lastSentMs = new Map<string, number>();
  readonly #coalesceMs: number;
  /** True time; workers have clocks of their own. */
  readonly #nowMs: () => number;
  #ids = 0;
  dropped = 0;

  constructor(coalesceMs: number, nowMs: () => number) {
    this.#coalesceMs = coalesceMs;
    this.#nowMs = nowMs;
  }

  portFor(worker: Worker, accepts: () => boolean): ApplyQueue {
    return {
      wake: async (groups) => {
        const readMs = this.#nowMs() + worker.skewMs;
        const unsent: GroupRef[] = [];
        for (const ref of groups) {
          await worker.effect('send apply');
          if (accepts()) this.#send(ref, readMs);
          else unsent.push(ref);
        }
        return unsent;
      },
    };
  }

  #send(ref: GroupRef, senderMs: number): void {
    const nowMs = this.#nowMs();
    this.#ids += 1;
    const coalesceMs = this.#coalesceMs;
    const id = coalesceMs === 0 ? `id-${this.#ids}` : windowId(ref, { nowMs: senderMs, coalesceMs });
    const lastMs = this.#lastSentMs.get(id);
    if (lastMs !== undefined && nowMs - lastMs < DEDUPLICATION_MS) {
      this.dropped += 1;
      return;
    }
    this.#lastSentMs.set(id, nowMs);
    const visibleAtMs = nowMs + applyDelaySeconds(coalesceMs / 1_000) * 1_000;
    this.messages.push({ ref, lane: laneOf(ref), visibleAtMs, receives: 0 });
  }

  /** The first message of each lane whose delay is over. */
  ready(): readonly ApplyMessage[] {
    const firsts = new Map<string, ApplyMessage>();
    for (const message of this.messages) if (!firsts.has(message.lane)) firsts.set(message.lane, message);
    return [...firsts.values()].filter(({ visibleAtMs }) => visibleAtMs <= this.#nowMs());
  }

  nextVisibleMs(): number | undefined {
    return this.messages.length === 0
      ? undefined
      : Math.min(...this.messages.map(({ visibleAtMs }) => visibleAtMs));
  }

  acknowledge(message: ApplyMessage): void {
    const at = this.messages.indexOf(message);
    if (at >= 0) this.messages.splice(at, 1);
  }
}

/** The events queue: any order, at least once. */
export class FakeEventsQueue {
  readonly messages: IncomingMessage[] = [];

  /** Takes out what one batch receives; whatever is not given back was deleted. */
  take(count: number, first: number): readonly IncomingMessage[] {
    return this.messages.splice(first % Math.max(1, this.messages.length), count);
  }

  giveBack(messages: readonly IncomingMessage[]): void {
    this.messages.push(...messages);
  }
}
