import { connectionName, groupId } from '../shared/domain/ids.ts';
import { readPast } from '../shared/operate/past.ts';
import { checkPast, NO_PAIRS } from './checks/past.ts';
import { type Cloud, platformOf } from './cloud.ts';
import { allStoresOver, type EnginePorts, tableOf } from './engine.ts';
import type { WrapPorts } from './lambdas.ts';
import type { SimulatedPlatform } from './platform/platform.ts';
import { MINUTE_MS, START_MS } from './simulation-run.ts';
import type { Seen } from './world.ts';

/** The number of groups, and of moments of each group, at the end of a run. */
const AT_END = 15;

/**
 * Returns a function that asks for the members of a random group, at random moments and within two minutes of a write.
 * It reads the table between two effects. Its reads draw empty pages, so a run with small pages differs from a run without
 * questions, but is the same each time.
 */
export function createPastQuestions(cloud: Cloud, seen: Seen, wrapPorts: WrapPorts = (ports) => ports) {
  const { nowMs, table: memory } = cloud;
  const random = cloud.random.fork('past');
  const worker = { name: 'past', skewMs: 0, isDead: () => false, effect: async () => {} };
  const table = tableOf(memory, worker, () => 'none');
  const stores = { ...allStoresOver(table), table, clock: nowMs };
  const ports = wrapPorts(stores as unknown as EnginePorts, 'checker');
  const pairs = { ...NO_PAIRS };

  const askAbout = async (moments: number) => {
    const groups = [...memory.items.values()].filter(({ sk, rev }) => sk === 'GROUP' && rev !== undefined);
    if (groups.length === 0) return;
    const { pk, group } = random.pick(groups);
    const ref = { connection: connectionName(pk.split('#')[1] ?? ''), group: groupId(String(group)) };
    const platform = platformOf(cloud, ref.connection) as SimulatedPlatform;
    const writes = [...platform.writes, ...platform.clientWrites];
    const nearMs = () => random.pick(writes).atMs + random.below(4 * MINUTE_MS) - 2 * MINUTE_MS;
    const anyMs = Array.from({ length: moments }, () => START_MS + random.below(nowMs() - START_MS));
    const times = writes.length === 0 ? anyMs : [...anyMs, ...anyMs.map(() => Math.min(nearMs(), nowMs()))];
    const { state, pasts } = await readPast(ref, times, ports);
    for (const [at, past] of pasts.entries()) {
      const members = 'members' in past ? past.members : undefined;
      const answer = { ...state.ref, linked: state.link?.id, atMs: times[at] ?? 0, members };
      // Near a write, more users are uncertain. So these moments are not counted.
      checkPast(seen, platform, answer, at < moments ? pairs : { ...NO_PAIRS });
    }
  };
  return {
    pairs,
    async ask(isEnd: boolean) {
      for (let left = isEnd ? AT_END : 1; left > 0; left -= 1) await askAbout(isEnd ? AT_END : 1);
    },
  };
}
