import { SingleBar } from 'cli-progress';
import type { Terminal } from '../io.ts';

export interface Progress {
  show(done: number, total: number): void;
  end(): void;
}

/** A bar on a terminal, nothing elsewhere: a log is no place for it. */
export function startProgress(screen: Terminal, what: string, quiet: boolean): Progress {
  if (quiet || screen.isTTY !== true) return { show: () => undefined, end: () => undefined };
  const bar = new SingleBar({
    format: `${what} {bar} {value}/{total}`,
    stream: screen as unknown as NodeJS.WritableStream,
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
  });
  let started = false;
  return {
    show(done, total) {
      if (started) bar.setTotal(total);
      else bar.start(total, 0);
      started = true;
      bar.update(done);
    },
    end: () => bar.stop(),
  };
}
