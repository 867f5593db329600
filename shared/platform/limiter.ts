/** Runs work when a slot is free, first come first served. Rejects with the signal's reason where it fires before. */
export type Limiter = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** At most `concurrency` pieces of work at once. */
export function createLimiter(concurrency: number): Limiter {
  const waiting: (() => void)[] = [];
  let free = concurrency;
  const release = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (work, signal) => {
    if (free > 0) free -= 1;
    // A slot is handed over, not freed: nobody can take it in between.
    else await turn(waiting, signal);
    try {
      return await work();
    } finally {
      release();
    }
  };
}

function turn(waiting: (() => void)[], signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      waiting.splice(waiting.indexOf(enter), 1);
      reject(signal?.reason);
    };
    const enter = () => {
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    if (signal?.aborted) return reject(signal.reason);
    waiting.push(enter);
    signal?.addEventListener('abort', leave, { once: true });
  });
}
