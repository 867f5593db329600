import { connectionName, type GroupRef, groupId } from '../shared/domain/ids.ts';
import { explainMember } from '../shared/operate/explain.ts';
import { applyGroup } from '../shared/sync/apply/apply.ts';
import { planGroup } from '../shared/sync/apply/plan-group.ts';
import { dirtyNow } from '../shared/sync/wake.ts';
import { checkExplain, checkPlan } from './checks/one-decision.ts';
import { partitionOf, type StoredMember, storedUser } from './checks/stored.ts';
import { type Cloud, groupItem, linkIn, platformOf } from './cloud.ts';
import { type Random, some } from './random.ts';
import { afterSilence } from './silence.ts';
import { HOUR_MS, MINUTE_MS } from './simulation-run.ts';
import type { Seen } from './world.ts';

const EVERY_MS = 7 * HOUR_MS;
const MOST_MEMBERS = 4;

/**
 * Every seven hours, except during faults, asks `explain` and `plan` about a random group and runs apply immediately
 * afterwards. Compares both answers with the result of apply.
 */
export function startAsking(cloud: Cloud, seen: Seen): void {
  const random = cloud.random.fork('asking');
  const again = (atMs: number) =>
    cloud.time.at(atMs, () => {
      if (cloud.isOver) return;
      again(afterSilence(cloud, atMs + EVERY_MS));
      const groups = [...cloud.table.items.values()].filter(
        ({ sk, rev }) => sk === 'GROUP' && rev !== undefined,
      );
      if (groups.length === 0 || cloud.nowMs() < cloud.troubledUntilMs) return;
      const { pk, group } = random.pick(groups);
      const ref = { connection: connectionName(pk.split('#')[1] ?? ''), group: groupId(String(group)) };
      cloud.start(askAndApply(cloud, seen, ref, random));
    });
  again(cloud.nowMs() + EVERY_MS);
}

async function askAndApply(cloud: Cloud, seen: Seen, ref: GroupRef, random: Random): Promise<void> {
  const { connection: name, group } = ref;
  const state = (): Readonly<Record<string, unknown>> => groupItem(cloud, name, group) ?? {};
  const platform = () => platformOf(cloud, name);
  const progress = () => ({ rev: Number(state()['rev']), writes: platform()?.writes.length ?? 0 });
  const others = () => [platform()?.clientWrites.length, cloud.companyActions, ...peopleOf(cloud, name)];
  await cloud.invoke('checker', 5 * MINUTE_MS, async ({ ports }) => {
    const connection = await ports.connections.current(name);
    if (connection === undefined) return;
    const stored = seen.under<StoredMember>(partitionOf(name, group), 'M#');
    const members = stored.map(({ member }) => member);
    const sentAgain = new Set(
      stored
        .filter(({ pendingCause }) => pendingCause === 'refused')
        .flatMap(({ member }) => usersOf(member, cloud, seen, name)),
    );
    const { rev, writes } = progress();
    const stood = others();
    // If the group changes before apply runs, a different result does not mean that the answers were wrong.
    const isOld = (revs: number, written: number) =>
      progress().rev !== rev + revs ||
      progress().writes !== writes + written ||
      others().some((one, place) => one !== stood[place]);
    const groups = new Map(platform()?.groups);
    const linked = linkIn(state());
    const isSeen = groups.get(linked?.id ?? '')?.version === linked?.version;
    const explained = [];
    for (const member of some(random, members, MOST_MEMBERS)) {
      explained.push(await explainMember(ref, member, { connection, ports }));
    }
    const planned = await planGroup(ref, ports);
    if (isOld(0, 0)) return;
    await ports.desired.markDirty(ref, dirtyNow(ports));
    const { outcome, writes: made } = await applyGroup(ref, ports);
    if (isOld(1, made.length)) return;
    cloud.runLog.fired('asked');
    // Apply may adopt a platform group, or link an earlier platform group again. Such a group existed before this
    // apply.
    const before = groups.get((linked ?? linkIn(state()))?.id ?? '');
    const after = platform()?.groups.get(linkIn(state())?.id ?? '');
    const around = { connection: name, group, before, after, isSeen, outcome, sentAgain };
    for (const answer of explained) checkExplain(seen, { ...around, answer });
    checkPlan(seen, { ...around, answer: planned });
  });
}

/** Returns the ids by which a platform group may contain the person of this member: the role id and the user id. */
function usersOf(member: string, cloud: Cloud, seen: Seen, name: string): readonly string[] {
  const role = storedUser(seen, name, member)?.role;
  if (role === undefined) return [];
  const userId = platformOf(cloud, name)?.employees.get(role)?.userId;
  return userId ? [role, userId] : [role];
}

/** Returns the stored people. groupsync may not have woken the groups of a changed person yet. */
const peopleOf = ({ table }: Cloud, name: string): readonly object[] =>
  [...table.items].flatMap(([key, item]) => (key.startsWith(`R#${name}#`) ? [item] : []));
