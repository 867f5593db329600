import type { GroupRef } from '../../shared/domain/ids.ts';
import { followGroups } from '../../shared/operate/follow.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';

export const NO_WAIT = ['--no-wait', 'do not wait until it is done'] as const;

export interface Wait {
  readonly wait: boolean;
}

const TIMEOUT_MS = 60_000;

/** What was begun is done by apply: waits for it, and says how it went. */
export async function follow(context: Context, ref: GroupRef): Promise<number> {
  const { out, io } = context;
  out.note('waiting until it is done …');
  const { synced, stopped } = await followGroups([ref], await context.ports(), {
    timeoutMs: TIMEOUT_MS,
    signal: io.signal,
  });
  const [found] = synced;
  if (stopped !== null) out.note(`not waited for: ${stopped}`);
  else out.note(`done: ${found?.state}${found?.lastError == null ? '' : `, ${found.lastError}`}`);
  return stopped === null && found?.state !== 'failed' ? EXIT.done : EXIT.attention;
}
