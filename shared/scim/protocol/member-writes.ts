/*
 * Each member of a group is an item of its own. So during a write of several members, readers can see some of the
 * changes. The group's item lists the open writes:
 *
 *     begin   one update of the group's item: next version, id of the write, time
 *     write   the registers of the members, and the floor if the request replaces the whole list
 *     end     one update of the group's item: the id of the write is removed
 *
 * While a write is open, the group's item already has the version after the write, but not all changes of its members.
 * Therefore the response to a read has an entity tag with a digest of the shown content. This tag matches no header,
 * except `*`: If-None-Match gives no 304, and If-Match gives 412.
 *
 * If a request replaces the whole list and needs several writes, the server first stores two lists: the members before
 * and the members after. This happens between `begin` and the first register. Readers see the members before, with
 * later changes, until the floor is written or the write ends. If the process dies, the next request that reads the
 * group finishes the write.
 */

/**
 * If a write is open for longer than this time, its process has died. The time limit of the deployed function is 29 s.
 */
const MAX_WRITE_MS = 60_000;

/** Ids of open writes, with their start time in milliseconds. */
type Writes = ReadonlyMap<string, number>;

/** Returns the writes whose process can still change the list. */
export const openWrites = (writes: Writes, nowMs: number): readonly string[] =>
  [...writes].filter(([, atMs]) => nowMs - atMs < MAX_WRITE_MS).map(([id]) => id);

/** Ids of writes of a whole list that have stored both lists. Another request can finish such a write. */
type Held = Pick<ReadonlyMap<string, unknown>, 'has'>;
const NONE: Held = new Map();

/** Returns the writes whose process has died and that no request can finish. Their stored registers stay. */
export const deadWrites = (writes: Writes, nowMs: number, held = NONE): readonly string[] => {
  const open = new Set(openWrites(writes, nowMs));
  return [...writes.keys()].filter((id) => !open.has(id) && !held.has(id));
};

export function withWrite(
  writes: Writes,
  { id, nowMs, held = NONE }: { readonly id: string; readonly nowMs: number; readonly held?: Held },
): Writes {
  const dead = new Set(deadWrites(writes, nowMs, held));
  return new Map([...[...writes].filter(([one]) => !dead.has(one)), [id, nowMs] as const]);
}
