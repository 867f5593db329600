import { groupFloor, groupName, memberCounts, NO_GROUP } from '../../domain/group.ts';
import type { StoredMember } from '../../domain/group-state.ts';
import { grouped } from '../../domain/grouped.ts';
import { userText } from '../../domain/history.ts';
import { type ConnectionName, groupId, memberId, platformUserId } from '../../domain/ids.ts';
import { laterStamp, makeStamp, readStamp, STAMP_ZERO, type Stamp, stampTimeMs } from '../../domain/stamp.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { entriesIn, journalOf } from '../../sync/ports/logs.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { NotFound } from '../names.ts';
import { ofOtherSources } from '../other-source.ts';
import type { Row } from './rows.ts';

/** A larger import is not stored, and cannot be undone as a whole. */
export const MOST_UNDONE = 100_000;

/** Returns a changed membership in the form of a user of the step of the import's entry. */
export const changedMembership = (group: string, member: string, isAdded: boolean): string =>
  userText({
    was: isAdded ? '-' : '+',
    is: isAdded ? '+' : '-',
    isOwn: true,
    user: platformUserId(JSON.stringify([group, member])),
  });

type UndoPorts = Pick<ToolPorts, 'audit' | 'clock' | 'groups' | 'users' | 'reader' | 'scim'>;

/**
 * Returns the rows that undo an import, and those that stay. A row is undone only if no later event has decided its
 * present value. An import of the same rows counts as the same import, because an interrupted import is repeated:
 *
 *     the import | the member is now                           | the undo
 *     -----------|---------------------------------------------|------------------------
 *     added      | in the group, by the import                 | removes the member
 *     added      | in the group, by another event              | leaves the member
 *     removed    | not in the group, by the import             | adds the member
 *     removed    | not in the group, by another event          | leaves the member
 *     either     | as before the import, by an earlier event   | states this value again
 *     either     | as before the import, by a later event      | does nothing
 *
 * In the fifth case, events of the import may wait in the queue or be dead-lettered. The stamp of the undo is later than
 * theirs, so they have no effect when they arrive.
 * @returns also the time of the undo, and the number of rows of the fifth case
 * @throws NotFound
 */
export async function planUndo(connection: ConnectionName, id: string, ports: UndoPorts) {
  const { sinceMs, changes: all } = await changesOf(connection, id, ports);
  const first = makeStamp({ time: new Date(sinceMs).toISOString(), id, source: '' });
  const content = id.slice(id.lastIndexOf('-'));
  const isOwn = (stamp: Stamp) => readStamp(stamp)?.id.includes(`${content}.`) === true;
  const byGroup = grouped(all, ({ group }) => group);
  const found = await mapConcurrently(READS_IN_FLIGHT, [...byGroup], async ([group, changes]) => {
    const ref = { connection, group: groupId(group) };
    const ids = changes.map(({ member }) => memberId(member));
    const [state, registers, users, others] = await Promise.all([
      ports.groups.read(ref),
      ports.groups.registers(ref, ids),
      ports.users.read(connection, ids),
      ofOtherSources({ name: connection }, [ref.group], ports),
    ]);
    const isMoving = (state?.movedTo ?? state?.openMove) !== undefined;
    const isOther = isMoving || others.some(({ source }) => source === 'directory');
    const ofGroup = state?.registers ?? NO_GROUP;
    const floor = groupFloor(ofGroup);
    const registerOf = new Map(registers.map((one) => [one.member, one]));
    const name = groupName(ofGroup) ?? group;
    return changes.flatMap(({ member, isAdded }) => {
      const userFloor = users.get(memberId(member))?.floor ?? STAMP_ZERO;
      const present = presentValue(registerOf.get(memberId(member)), floor, userFloor);
      const isWaiting = present.isMember !== isAdded;
      if (isWaiting && (isOther || present.stamp > first)) return [];
      const isUndone = isWaiting || (!isOther && isOwn(present.stamp));
      const row: Row = { line: 0, group, name, member, email: '', kind: isAdded ? 'remove' : 'add' };
      return [{ row, isUndone, isWaiting, stamp: present.stamp }];
    });
  });
  const rows = found.flat();
  const undone = rows.filter(({ isUndone }) => isUndone);
  const latest = undone.reduce((last, { stamp }) => laterStamp(last, stamp), first);
  return {
    rows: undone.map(({ row }) => row),
    stays: rows.flatMap(({ row: { group, member }, isUndone }) => (isUndone ? [] : [{ group, member }])),
    waiting: undone.filter(({ isWaiting }) => isWaiting).length,
    asOf: new Date(Math.max(ports.clock(), stampTimeMs(latest) + 1)).toISOString(),
  };
}

function presentValue(register: StoredMember | undefined, floor: Stamp, userFloor: Stamp) {
  const stamp = register?.stamp ?? STAMP_ZERO;
  if (register !== undefined && memberCounts(register, floor, userFloor)) return { isMember: true, stamp };
  return { isMember: false, stamp: [stamp, floor, userFloor].reduce(laterStamp) };
}

async function changesOf(connection: ConnectionName, id: string, { audit }: UndoPorts) {
  const journal = journalOf(connection);
  for await (const entry of entriesIn(audit.actions(journal))) {
    if (entry.action !== 'import' || entry.step?.after !== id) continue;
    const users = await audit.usersOf(journal, entry);
    if (users === undefined)
      throw new NotFound(
        `nothing was changed: the stored memberships of the import ${id} were changed or removed; next: groupsync audit --verify`,
      );
    const changes = users.map(({ is, user }) => {
      const [group = '', member = ''] = JSON.parse(user) as readonly string[];
      return { group, member, isAdded: is === '+' };
    });
    return { sinceMs: entry.step.sinceMs, changes };
  }
  throw new NotFound(
    `nothing was changed: no import of the last 400 days with known changes has the id ${id}; the imports with their ids: groupsync log --action import --details`,
  );
}
