import type { GroupRef } from '../../shared/domain/ids.ts';
import { followGroups } from '../../shared/operate/follow.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';

export const NO_WAIT = ['--no-wait', 'do not wait until it is done'] as const;

export interface Wait {
  readonly wait: boolean;
}

const TIMEOUT_MS = 60_000;

/** What was begun is done by apply: waits for it, and says how it went. */
export async function follow(
  context: Context,
  refs: readonly GroupRef[],
  { timeoutMs = TIMEOUT_MS, writesOnly = false } = {},
): Promise<number> {
  const { out, io } = context;
  if (refs.length === 0) return EXIT.done;
  out.note(writesOnly ? 'waiting for writes that were begun …' : 'waiting until it is done …');
  const progress = out.progress('done');
  const { synced, stopped } = await followGroups(refs, await context.ports(), {
    timeoutMs,
    writesOnly,
    signal: io.signal,
    ...(refs.length > 1 && { onProgress: progress.show }),
  }).finally(progress.end);
  const failed = synced.filter(({ state }) => state === 'failed');
  const [found = failed[0]] = refs.length === 1 ? synced : [];
  const error = found?.lastError == null ? '' : `, ${found.lastError}`;
  if (stopped !== null) out.note(`not waited for: ${stopped}`);
  else if (writesOnly) out.note('done: nothing of it is being written');
  else if (refs.length === 1) out.note(`done: ${found?.state}${error}`);
  else out.note(`done: ${plural(refs.length, 'group')}, ${failed.length} failed${error}`);
  return stopped === null && (writesOnly || failed.length === 0) ? EXIT.done : EXIT.attention;
}
