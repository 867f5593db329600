import { isWhole } from '../../shared/domain/view.ts';
import { type Figure, PAIRED_RUNS, showSpread, spreadOf, table } from '../figure.ts';
import { createRig } from '../memory/rig.ts';
import { sumOf } from '../memory/totals.ts';

const WINDOW_SECONDS = 5;
const BURSTS = [1, 100, 10_000] as const;
const GROUPS = [1, 10, 100] as const;
/** The simulated time begins with a window, so that the offset of a burst in its window is known. */
const ALIGNED_MS = Math.ceil(Date.UTC(2026, 0, 5, 8) / 300_000) * 300_000;

interface Outcome {
  readonly writes: number;
  readonly groupWindows: number;
}

/**
 * Sends a burst of messages. In each message one person joins a group, one group after the other. The burst starts at
 * the given offset in the window. If the burst crosses the end of the window, two writes per group are correct.
 */
async function burst(changes: number, groups: number, offsetMs: number): Promise<Outcome> {
  const people = Math.ceil(changes / groups) + 1;
  const rig = await createRig({ coalesceSeconds: WINDOW_SECONDS, people, startMs: ALIGNED_MS });
  const ids = Array.from({ length: groups }, (_, n) => `d${n}`);
  await rig.ingest(ids.map((id) => rig.directory.snapshot(id, [0])));
  await rig.drain();
  rig.advance(600_000 + offsetMs - ((rig.clock() - ALIGNED_MS) % (WINDOW_SECONDS * 1_000)));
  rig.totals.take();

  const events = Array.from({ length: changes }, (_, n) =>
    rig.directory.added(`d${n % groups}`, 1 + Math.floor(n / groups)),
  );
  const startedMs = rig.clock();
  await rig.ingest(events);
  const windowOf = (ms: number) => Math.floor(ms / (WINDOW_SECONDS * 1_000));
  const windows = windowOf(rig.clock() - 1) - windowOf(startedMs) + 1;
  await rig.drain();
  const writes = sumOf(rig.totals.take(), 'platform P');
  const isShown = [...rig.platform.groups.values()].reduce((sum, { users }) => sum + users.length - 1, 0);
  if (isShown !== changes) throw new Error(`the platform shows ${isShown} of ${changes} joins`);
  return { writes, groupWindows: Math.min(groups, changes) * windows };
}

/** Returns the number of writes of a naive connector, which sends one PATCH for each message. */
async function naiveWrites(messages: number): Promise<number> {
  const rig = await createRig({ coalesceSeconds: 0, people: 1 });
  await rig.ingest([rig.directory.snapshot('d0', [0])]);
  await rig.drain();
  const platform = await rig.ports.platforms.open(rig.connection);
  const [first] = await platform.groups.list(0);
  if (first === undefined || !isWhole(first)) throw new Error('the platform shows no group');
  rig.totals.take();
  let { version } = first;
  for (let message = 0; message < messages; message += 1) {
    ({ version } = await platform.groups.patch(
      first.id as never,
      { users: [`u${message}` as never] },
      version,
    ));
  }
  return sumOf(rig.totals.take(), 'platform PATCH');
}

export const writesFigure: Figure = {
  name: 'writes',
  title: 'Writes per group and window',
  async run() {
    const rows: (string | number)[][] = [];
    for (const changes of BURSTS) {
      const naive = await naiveWrites(changes);
      for (const groups of GROUPS) {
        const runs: Outcome[] = [];
        for (let run = 0; run < PAIRED_RUNS; run += 1)
          runs.push(await burst(changes, groups, run * 1_000 + 250));
        const saved = spreadOf(runs.map(({ writes }) => naive / writes));
        const perWindow = spreadOf(runs.map(({ writes, groupWindows }) => writes / groupWindows));
        const writes = spreadOf(runs.map((run) => run.writes));
        rows.push([changes, groups, writes.median, naive, showSpread(saved, 1), showSpread(perWindow)]);
      }
    }
    return [
      `Each run sends a burst of joins, one message per join, to the groups in turn. The coalescing window is ${WINDOW_SECONDS} s. Five runs begin`,
      '0.25 s to 4.25 s after the start of a window. The simulated platform counts the writes. The naive design sends one PATCH per',
      'message. The goal is at most one write per group and window.',
      '',
      table(
        ['changes', 'groups', 'writes', 'naive', 'naive ÷ groupsync', 'writes per group and window'],
        rows,
      ),
    ].join('\n');
  },
};
