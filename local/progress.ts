import { SingleBar } from 'cli-progress';
import type { Backlog } from './convergence.ts';

interface Progress {
  readonly show: (backlog: Backlog) => void;
  /** Prints a line. On a terminal, the line appears above the progress bar. */
  readonly printLine: (line: string) => void;
  readonly end: () => void;
}

interface Screen {
  readonly isTTY?: boolean;
  readonly write: (text: string) => unknown;
}

const QUIET_MS = 2000;

/** Shows a progress bar on a terminal. Without a terminal, prints a line after a change, at most every two seconds. */
export function startProgress(screen: Screen, published: number, clock: () => number): Progress {
  return screen.isTTY === true ? barProgress(screen, published) : lineProgress(screen, clock);
}

/** The first half of the bar shows the processed events, and the second half the processed apply messages. */
function barProgress(screen: Screen, published: number): Progress {
  const bar = new SingleBar({
    format: '{bar} {percentage}% | {what}',
    stream: screen as NodeJS.WritableStream,
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
    noTTYOutput: false,
  });
  const total = Math.max(1, published);
  bar.start(total * 2, 0, { what: 'starting' });
  let maxApply = 1;
  return {
    show(backlog) {
      maxApply = Math.max(maxApply, backlog.apply);
      const taken = Math.max(0, total - backlog.events);
      const written = backlog.events > 0 ? 0 : total * (1 - backlog.apply / maxApply);
      bar.update(Math.floor(taken + written), { what: describe(backlog) });
    },
    printLine(line) {
      screen.write(`\r\u001B[K${line}\n`);
    },
    end: () => bar.stop(),
  };
}

function lineProgress(screen: Screen, clock: () => number): Progress {
  let last = '';
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    show(backlog) {
      const line = describe(backlog);
      const nowMs = clock();
      if (line === last || nowMs - lastMs < QUIET_MS) return;
      last = line;
      lastMs = nowMs;
      screen.write(`${line}\n`);
    },
    printLine: (line) => void screen.write(`${line}\n`),
    end: () => undefined,
  };
}

function describe({ events, apply, groups }: Backlog): string {
  if (events > 0) return `${events} events and ${apply} sync triggers waiting`;
  if (groups === undefined) return `${apply} sync triggers waiting`;
  const { all, unfinished } = groups;
  return unfinished > 0 ? `${unfinished} of ${all} groups not in sync yet` : `${all} groups settled`;
}
