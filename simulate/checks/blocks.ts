import { MINUTE_MS, type SimulationRun } from '../simulation-run.ts';
import type { Seen } from '../world.ts';

/** A block of a person, as far as the actions of the operators show it. groupsync's stored blocks are not read. */
interface PersonBlock {
  readonly role: string;
  /** The ids that certainly belong to the person: the role, and its user id at the time of the block. */
  readonly ids: ReadonlySet<string>;
  /** All ids that may belong to the person at some time in the run. All roles of one user are one person. */
  readonly possibleIds: ReadonlySet<string>;
  /** The start and the end of the command. The block may take effect between these times. */
  readonly fromMs: number;
  readonly blockedMs: number;
  /** Whether the block is certainly stored: its command did not crash, and no command may have ended it. */
  readonly isCertain: boolean;
  /** The start and the end of the command that ended the block; undefined if the block has not ended. */
  readonly ended?: { readonly fromMs: number; readonly untilMs: number };
}

/** A write that was in flight when an operator ended a block may still remove the person. */
const IN_FLIGHT_MS = 15 * MINUTE_MS;

/** Returns all blocks of a connection in the order of the commands. The removal of the connection ends its blocks. */
export function blocksOf({ operators, run }: Pick<Seen, 'operators' | 'run'>, name: string): PersonBlock[] {
  let blocks: PersonBlock[] = [];
  for (const action of operators.actions) {
    const { kind, connection, done, crashed, role, userId, atMs, startedMs = atMs } = action;
    if (connection !== name || !done) continue;
    const ended = { fromMs: startedMs, untilMs: atMs };
    // The stored connection contains the blocks.
    if (kind === 'remove_connection') blocks = blocks.map((one) => ({ ended, ...one }));
    if (role === undefined) continue;
    const isCertain = crashed !== true;
    if (kind === 'block') {
      const ids = new Set(userId === undefined ? [role] : [role, userId]);
      const possibleIds = new Set([...ids, ...connectedIds(run, role)]);
      blocks.push({ role, ids, possibleIds, fromMs: startedMs, blockedMs: atMs, isCertain });
    }
    if (kind !== 'unblock') continue;
    blocks = blocks.map((one) => {
      if (one.ended !== undefined || !one.possibleIds.has(role)) return one;
      return isCertain && one.role === role ? { ...one, ended } : { ...one, isCertain: false };
    });
  }
  return blocks;
}

/** Returns the blocks that may be in effect at this time. */
export const mayBlockAt = (blocks: readonly PersonBlock[], atMs: number): readonly PersonBlock[] =>
  blocks.filter(
    ({ fromMs, ended }) => fromMs <= atMs && (ended === undefined || atMs <= ended.untilMs + IN_FLIGHT_MS),
  );

/** Returns the users of this write whose removal a block may have caused. */
export const blockedAmong = (
  users: readonly string[],
  blocks: readonly PersonBlock[],
  atMs: number,
): ReadonlySet<string> => {
  const possible = mayBlockAt(blocks, atMs);
  return new Set(users.filter((user) => possible.some(({ possibleIds }) => possibleIds.has(user))));
};

const CONNECTED = new WeakMap<SimulationRun, Map<string, ReadonlySet<string>>>();

/** Returns the role, its user ids of the whole run, the other roles of these users, and so on. */
function connectedIds(run: SimulationRun, role: string): ReadonlySet<string> {
  const known = CONNECTED.get(run) ?? new Map<string, ReadonlySet<string>>();
  CONNECTED.set(run, known);
  const found = known.get(role) ?? idsFrom(run, role);
  known.set(role, found);
  return found;
}

function idsFrom({ connections, happenings }: SimulationRun, role: string): ReadonlySet<string> {
  const hired = happenings.flatMap(({ action }) => (action.kind === 'hire' ? [action.person] : []));
  const people = [...connections.flatMap((one) => one.people), ...hired];
  const pairs = [
    ...people.map((one) => [one.role, one.userId ?? `u-${one.role}`] as const),
    ...happenings.flatMap(({ action }) =>
      action.kind === 'change_user_id' ? [[action.role, action.userId] as const] : [],
    ),
  ];
  const ids = new Set([role]);
  for (let before = 0; before < ids.size; ) {
    before = ids.size;
    for (const [one, userId] of pairs) {
      if (ids.has(one) || ids.has(userId)) ids.add(one).add(userId);
    }
  }
  return ids;
}
