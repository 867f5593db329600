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
    async run(untilMs: number) {
      for (let next = heap[0]; next !== undefined && next.atMs <= untilMs; next = heap[0]) {
        pop(heap);
        now = next.atMs;
        next.run();
        await turn();
      }
      now = Math.max(now, untilMs);
    },
  };
}

/** All that follows from one event without waiting is done when this is: microtasks and ticks come before immediates. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

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
