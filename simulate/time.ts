export type Time = ReturnType<typeof createTime>;

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly run: () => void;
}

/** Simulated time: whoever waits is woken in the order of instants, one at a time. */
export function createTime(startMs: number) {
  let now = startMs;
  let orders = 0;
  const heap: Due[] = [];
  /** Does something at an instant, or at once where that is past. */
  const at = (atMs: number, run: () => void): void => {
    orders += 1;
    push(heap, { atMs: Math.max(now, atMs), order: orders, run });
  };
  return {
    /** Milliseconds since 1970. */
    nowMs: () => now,
    at,
    /** Parks the caller; 0 lets everybody go first who is due by now. */
    sleep: (ms: number) => new Promise<void>((resolve) => at(now + ms, resolve)),
    /** Lets everything happen up to this instant. */
    run: (untilMs: number) =>
      new Promise<void>((resolve, reject) => {
        const one = () => {
          const [next] = heap;
          if (next === undefined || next.atMs > untilMs) return;
          pop(heap);
          now = next.atMs;
          try {
            next.run();
          } catch (error) {
            heap.length = 0;
            reject(error);
          }
        };
        const turn = () => {
          if (heap[0] !== undefined && heap[0].atMs <= untilMs) {
            for (let left = AT_A_TURN; left > 0; left -= 1) setImmediate(one);
            setImmediate(turn);
          } else {
            now = Math.max(now, untilMs);
            resolve();
          }
        };
        turn();
      }),
  };
}

/**
 * All that follows from one event without waiting is done before the next: microtasks and ticks come between immediates.
 * So many share a turn of the event loop, in which the system is asked for news each time.
 */
const AT_A_TURN = 100;

const isBefore = (a: Due, b: Due): boolean => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

function push(heap: Due[], due: Due): void {
  let place = heap.length;
  heap.push(due);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent] as Due;
    if (!isBefore(due, above)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = due;
}

function pop(heap: Due[]): void {
  const last = heap.pop() as Due;
  if (heap.length === 0) return;
  let place = 0;
  for (;;) {
    const left = 2 * place + 1;
    const right = left + 1;
    if (left >= heap.length) break;
    const child = right < heap.length && isBefore(heap[right] as Due, heap[left] as Due) ? right : left;
    const below = heap[child] as Due;
    if (!isBefore(below, last)) break;
    heap[place] = below;
    place = child;
  }
  heap[place] = last;
}
