import type { GroupRef } from '../../shared/domain/ids.ts';
import { followGroups } from '../../shared/operate/follow.ts';
import { allGroups } from '../../shared/operate/names.ts';
import { fixForGate, formatWaiting } from '../../shared/operate/status.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';

export const NO_WAIT = ['--no-wait', 'do not wait for completion'] as const;

export interface WaitOption {
  readonly wait: boolean;
}

const TIMEOUT_MS = 60_000;

export async function follow(
  context: Context,
  refs: readonly GroupRef[],
  { timeoutMs = TIMEOUT_MS, writesOnly = false } = {},
): Promise<number> {
  const { out, io } = context;
  if (refs.length === 0) return EXIT.done;
  out.note(writesOnly ? 'waiting for writes in flight …' : 'waiting for completion …');
  const progress = out.progress('done');
  const { synced, stopped } = await followGroups(refs, await context.ports(), {
    timeoutMs,
    writesOnly,
    signal: io.signal,
    onWaiting: (group, waiting) => out.note(`${group} is ${formatWaiting(waiting)}`),
    onProgress: refs.length > 1 ? progress.show : undefined,
  }).finally(progress.end);
  const failed = synced.filter(({ state }) => state === 'failed');
  const [found = failed[0]] = refs.length === 1 ? synced : [];
  const error = found?.lastError == null ? '' : `, ${found.lastError}`;
  if (stopped !== null) {
    out.note(`stopped waiting: ${stopped}`);
    await noteObstacle(context);
  } else if (writesOnly) out.note('done: no writes in flight');
  else if (refs.length === 1) out.note(`done: ${found?.state}${error}`);
  else out.note(`done: ${plural(refs.length, 'group')}, ${failed.length} failed${error}`);
  return stopped === null && (writesOnly || failed.length === 0) ? EXIT.done : EXIT.attention;
}

export async function noteObstacle({ out, connection, ports }: Context): Promise<void> {
  const { gates, connections } = await ports();
  const [gate, found] = await Promise.all([gates.read(connection), connections.find(connection)]);
  const step = fixForGate(gate, connection) ?? (found?.observing ? 'groupsync resume' : undefined);
  out.note(`next: ${step ?? 'groupsync status'}`);
}

export const dirtyGroups = async ({ connection, ports }: Context): Promise<readonly GroupRef[]> =>
  allGroups(connection, await ports(), ({ dirtySinceMs }) => dirtySinceMs !== undefined);
