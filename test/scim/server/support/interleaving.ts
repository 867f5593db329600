import { callerStorage } from '../../../support/caller-storage.ts';

interface Call {
  readonly by: string;
  readonly go: () => void;
}

interface Drawn {
  /** Each number decides which of the waiting calls is released next. */
  readonly picks: readonly number[];
  /** The request that crashes instead of its next call, after this number of calls. */
  readonly died?: { readonly by: string; readonly calls: number } | undefined;
  /** The most calls of one request that are released at once. */
  readonly atOnce?: (pick: number) => number;
  /** The clock. It advances only at some steps, so some revisions have the same time. */
  readonly time?: { nowMs: number };
}

const caller = callerStorage<string>();

/** Runs code whose table calls do not wait. */
export const outsideOfRequests = <Result>(run: () => Result): Result => caller.exit(run);

/** Interleaves the table calls of several requests in a drawn order. A crashed request gets no answer. */
export function createInterleaving() {
  const waiting: Call[] = [];
  return {
    /** Waits before a table call of a request. Other table calls do not wait. */
    before: async () => {
      const by = caller.getStore();
      if (by !== undefined) await new Promise<void>((go) => void waiting.push({ by, go }));
    },
    /** Runs the requests until each has ended or crashed. Returns the errors that they threw. */
    async run(
      requests: Readonly<Record<string, () => Promise<unknown>>>,
      { picks, died, atOnce = () => 1, time = { nowMs: 0 } }: Drawn,
    ): Promise<string[]> {
      const faults: string[] = [];
      const running = new Set(Object.keys(requests));
      const calls = new Map<string, number>();
      for (const [by, request] of Object.entries(requests))
        void caller
          .run(by, request)
          .catch((fault: unknown) => faults.push(String(fault)))
          .finally(() => running.delete(by));
      for (let step = 0; running.size > 0; step += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        const able = waiting.filter(({ by }) => running.has(by));
        const pick = picks[step % picks.length] ?? 0;
        const next = able[pick % Math.max(1, able.length)];
        if (next === undefined) continue;
        const others = able.filter((one) => one !== next && one.by === next.by);
        for (const one of [next, ...others].slice(0, atOnce(pick))) {
          waiting.splice(waiting.indexOf(one), 1);
          const made = (calls.get(one.by) ?? 0) + 1;
          calls.set(one.by, made);
          if (one.by === died?.by && made > died.calls) running.delete(one.by);
          else one.go();
        }
        time.nowMs += step % 7 === 0 ? 1 : 0;
      }
      return faults;
    },
  };
}
