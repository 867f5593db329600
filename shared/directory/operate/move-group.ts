import { groupFloor } from '../../domain/group.ts';
import type { MovedGroup } from '../../domain/group-state.ts';
import type { GroupRef } from '../../domain/ids.ts';
import type { Source } from '../../domain/source.ts';
import { stampAt } from '../../domain/stamp.ts';
import { doRecorded } from '../../operate/journal.ts';
import { continueMove } from '../../sync/moves.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import type { DirectoryToolPorts } from './preview.ts';

/**
 * Makes another source the owner of a group and of its platform group. The requeue job continues the move if this
 * function stops halfway (`sync/moves.ts`).
 * @returns false if the group has not moved
 */
export async function moveGroup(
  connection: Connection,
  move: MovedGroup,
  ports: DirectoryToolPorts,
): Promise<boolean> {
  const { from, to, source } = move;
  const { name } = connection;
  if (move.openSinceMs !== undefined) return continueMove(connection, move, ports, false);
  const old: GroupRef = { connection: name, group: from };
  const change = { kind: 'take_over_group', before: from, after: to, reason: OWNS[source] };
  let isMoved = from === to;
  await doRecorded(old, { action: 'directory_takeover', changes: [change] }, ports, async () => {
    if (from === to) {
      await ports.reader.noteMove(name, move);
      if (source === 'directory') await ports.reader.notePushed(name, to, ports.clock());
      return true;
    }
    // The time identifies the move, also if the clock of an earlier operator was ahead.
    const states = await ports.groups.readMany([old, { connection: name, group: to }]);
    const openSinceMs = Math.max(ports.clock(), ...states.map((one) => 1 + (one.movedAt ?? 0)));
    const next = states.find(({ ref }) => ref.group === to);
    // The members of a reader's group are not known before its next read.
    const isKnown = next !== undefined && source !== 'directory';
    const floor = isKnown ? groupFloor(next.registers) : stampAt(openSinceMs);
    const begun = { ...move, openSinceMs, floor };
    await ports.reader.noteMove(name, begun);
    isMoved = await continueMove(connection, begun, ports, false);
    return true;
  });
  return isMoved;
}

const OWNS: Readonly<Record<Source, string>> = {
  directory: 'the reader owns it',
  scim: 'a SCIM client owns it',
  events: 'events own it',
};
