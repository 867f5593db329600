import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ReplayProgress } from '../answers.ts';
import { ask, showToast } from './actions.tsx';
import { duration } from './format.ts';
import { lines, post } from './net.ts';
import { Button } from './parts.tsx';
import { T } from './texts.ts';

const EACH_SECONDS = 0.05;

export function askReplay(
  selection: { readonly code?: string; readonly ids?: readonly string[] },
  count: number,
): void {
  ask({
    title: T.deadLetters.replayTitle(count),
    text: T.deadLetters.replayText(count, duration(Math.max(1_000, count * EACH_SECONDS * 1_000))),
    verb: T.tryAgain,
    run: async () => {
      const stopping = new AbortController();
      const response = await post('replay', selection, stopping.signal);
      void follow(response, count, stopping);
    },
  });
}

const running = signal<{
  readonly progress: ReplayProgress;
  readonly of: number;
  readonly stop: () => void;
} | null>(null);

/** Follows a replay. The server stops the replay when the page stops reading its progress. */
async function follow(response: Response, of: number, stopping: AbortController): Promise<void> {
  let progress: ReplayProgress = { replayed: 0, failed: 0, remaining: null };
  const stop = () => stopping.abort();
  running.value = { progress, of, stop };
  try {
    for await (const line of lines(response)) {
      if (line === '') continue;
      progress = JSON.parse(line);
      running.value = { progress, of, stop };
    }
    const { replayed, failed, problem } = progress;
    showToast(problem ?? T.deadLetters.ended(replayed, failed), problem !== undefined);
  } catch {
    const isStopped = stopping.signal.aborted;
    showToast(isStopped ? T.deadLetters.stopped : T.live.gone, !isStopped);
  }
  running.value = null;
}

export function Running({ done }: { readonly done: () => Promise<void> }) {
  const now = running.value;
  useEffect(() => {
    if (now === null) void done();
  }, [now === null]);
  if (now === null) return null;
  const { progress, of, stop } = now;
  return (
    <div class="notice running" role="status">
      <span>{T.deadLetters.progress(progress.replayed, Math.max(of, progress.replayed))}</span>
      <progress value={progress.replayed} max={Math.max(of, 1)} aria-label={T.tryAgain} />
      <Button onClick={stop}>{T.deadLetters.stop}</Button>
    </div>
  );
}
