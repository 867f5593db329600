import { groupExists, groupFloor, groupName, memberCounts } from '../../domain/group.ts';
import type { StoredMember } from '../../domain/group-state.ts';
import { grouped } from '../../domain/grouped.ts';
import type { StepUser } from '../../domain/history.ts';
import { type ConnectionName, groupId, memberId, platformUserId } from '../../domain/ids.ts';
import { laterStamp, readStamp, STAMP_ZERO, type Stamp } from '../../domain/stamp.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { journalOf } from '../../sync/ports/logs.ts';
import { mapConcurrently, READS_IN_FLIGHT } from '../../sync/tuning.ts';
import { NotFound } from '../names.ts';
import { ofOtherSources } from '../other-source.ts';
import type { Row } from './rows.ts';

/** A larger import is not stored, and cannot be undone as a whole. */
export const MOST_UNDONE = 100_000;

/** Returns a changed membership in the form of a user of the step of the import's entry. */
export const changedMembership = (group: string, member: string, isAdded: boolean): StepUser => ({
  was: isAdded ? '-' : '+',
  is: isAdded ? '+' : '-',
  isOwn: true,
  user: platformUserId(JSON.stringify([group, member])),
});

type UndoPorts = Pick<ToolPorts, 'audit' | 'groups' | 'users' | 'reader' | 'scim'>;

/**
 * Returns the rows that undo an import, and those that stay. A row is undone only if the import has decided its present
 * value:
 *
 *     the import | the member is now                    | the undo
 *     -----------|--------------------------------------|------------------
 *     added      | in the group, by the import          | removes the member
 *     added      | in the group, by a later event       | leaves the member
 *     removed    | not in the group, by the import      | adds the member
 *     removed    | not in the group, by a later event   | leaves the member
 *     either     | as before the import                 | does nothing
 *
 * @throws NotFound
 */
export async function planUndo(connection: ConnectionName, id: string, ports: UndoPorts) {
  const byGroup = grouped(await changesOf(connection, id, ports), ({ group }) => group);
  const isOwn = (stamp: Stamp) => readStamp(stamp)?.id.startsWith(`${id}.`) === true;
  const undone = await mapConcurrently(READS_IN_FLIGHT, [...byGroup], async ([group, changes]) => {
    const ref = { connection, group: groupId(group) };
    const ids = changes.map(({ member }) => memberId(member));
    const [state, registers, users, others] = await Promise.all([
      ports.groups.read(ref),
      ports.groups.registers(ref, ids),
      ports.users.read(connection, ids),
      ofOtherSources({ name: connection }, [ref.group], ports),
    ]);
    if (state === undefined) return [];
    const isOther = state.movedTo !== undefined || others.some(({ source }) => source === 'directory');
    const floor = groupFloor(state.registers);
    const registerOf = new Map(registers.map((one) => [one.member, one]));
    const name = groupName(state.registers) ?? group;
    return changes.flatMap(({ member, isAdded }) => {
      const register = registerOf.get(memberId(member));
      const userFloor = users.get(memberId(member))?.floor ?? STAMP_ZERO;
      const isMember = register !== undefined && memberCounts(register, floor, userFloor);
      if (isMember !== isAdded) return [];
      const decisive = isMember ? register.stamp : endOf(register, floor, userFloor);
      const isUndone = !isOther && !state.containsGroups && groupExists(state.registers) && isOwn(decisive);
      const row: Row = { line: 0, group, name, member, email: '', kind: isAdded ? 'remove' : 'add' };
      return [{ row, isUndone }];
    });
  });
  const all = undone.flat();
  const rowsThat = (areUndone: boolean) =>
    all.flatMap(({ row, isUndone }) => (isUndone === areUndone ? [row] : []));
  const stays = rowsThat(false).map(({ group, member }) => ({ group, member }));
  return { rows: rowsThat(true), stays };
}

/** Returns the stamp of the event that ended a membership, or before which it did not exist. */
const endOf = (register: StoredMember | undefined, floor: Stamp, userFloor: Stamp): Stamp =>
  laterStamp(userFloor, register?.value === 'absent' ? register.stamp : floor);

async function changesOf(connection: ConnectionName, id: string, { audit }: UndoPorts) {
  const journal = journalOf(connection);
  for await (const page of audit.actions(journal)) {
    const entry = page.find(({ action, step }) => action === 'import' && step?.after === id);
    const users = entry && (await audit.usersOf(journal, entry));
    if (users !== undefined)
      return users.map(({ is, user }) => {
        const [group = '', member = ''] = JSON.parse(user) as readonly string[];
        return { group, member, isAdded: is === '+' };
      });
  }
  throw new NotFound(
    `nothing was changed: no import of the last 400 days with known changes has the id ${id}; the imports with their ids: groupsync log --action import --details`,
  );
}
