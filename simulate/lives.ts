import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DrawOptions } from './draw.ts';
import type { LifeReport } from './judgement.ts';

/** A life to be lived in another process. */
export interface Errand {
  readonly seed: number;
  readonly draw: DrawOptions;
  /** Name of a planted bug. */
  readonly planted?: string | undefined;
}

export type Answer = { readonly report: LifeReport } | { readonly seed: number; readonly broke: string };

const WORKER = fileURLToPath(new URL('./life-worker.ts', import.meta.url));

/** Lives many lives in several processes, and gives them back as they end; ends early where `isEnough` says so. */
export async function liveMany(
  errands: Iterator<Errand>,
  jobs: number,
  onLife: (answer: Answer) => void,
  isEnough: () => boolean = () => false,
): Promise<void> {
  await Promise.all(Array.from({ length: jobs }, () => liveInOne(errands, onLife, isEnough)));
}

function liveInOne(
  errands: Iterator<Errand>,
  onLife: (answer: Answer) => void,
  isEnough: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = fork(WORKER, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // A life is made of what is soon forgotten: with room for it, it is collected cheaply.
      execArgv: [...process.execArgv, '--max-semi-space-size=64'],
    });
    const next = () => {
      const { value, done } = isEnough() ? { value: undefined, done: true } : errands.next();
      if (done === true || value === undefined) child.disconnect();
      else child.send(value);
    };
    child.on('message', (answer: Answer) => {
      onLife(answer);
      next();
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`a process that lived lives ended with ${code}`)),
    );
    next();
  });
}
