/*
 * Each member of a group is its own item, so a write of several members is visible before it has ended. The group's
 * item lists the open writes:
 *
 *     begin   one update of the group's item: next version, id of the write, time
 *     write   the registers of the members, and for a whole list the floor
 *     end     one update of the group's item: the id of the write is removed
 *
 * While a write is open, the group's item already has the version of the list after the write, but no request can read
 * that list yet. Therefore the response to a read has an entity tag with a digest of the returned content. No request
 * can use that tag: it never leads to 304, and If-Match with this tag is answered with 412.
 *
 * A whole list that takes several writes is stored as two lists between begin and the first register: the list
 * before and the list after. Readers see the list before, with later changes, until the floor is written or the
 * write ends. If the process dies, the next request that reads the group finishes the write.
 */

/**
 * If a write is open for longer than this, its process has died. This is about twice the time limit of the deployed
 * function (29 s).
 */
export const MAX_WRITE_MS = 60_000;

/** Ids of open writes, with their start time in milliseconds. */
export type Writes = ReadonlyMap<string, number>;

/** Returns the writes that may still change the list. */
export const openWrites = (writes: Writes, nowMs: number): readonly string[] =>
  [...writes].filter(([, atMs]) => nowMs - atMs < MAX_WRITE_MS).map(([id]) => id);

/**
 * Ids of writes of a whole list whose lists are stored. If the process of such a write dies, another request finishes
 * the write.
 */
type Held = Pick<ReadonlyMap<string, unknown>, 'has'>;
const NONE: Held = new Map();

/**
 * Returns the writes whose process has died and that no request finishes. The registers that they have written stay,
 * and they write no further register.
 */
export const deadWrites = (writes: Writes, nowMs: number, held = NONE): readonly string[] => {
  const open = new Set(openWrites(writes, nowMs));
  return [...writes.keys()].filter((id) => !open.has(id) && !held.has(id));
};

/** Adds a write and drops the dead ones. */
export function withWrite(
  writes: Writes,
  { id, nowMs, held = NONE }: { readonly id: string; readonly nowMs: number; readonly held?: Held },
): Writes {
  const dead = new Set(deadWrites(writes, nowMs, held));
  return new Map([...[...writes].filter(([one]) => !dead.has(one)), [id, nowMs] as const]);
}
