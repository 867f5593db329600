import type { ConnectionName, MemberId, RoleId } from '../../domain/ids.ts';

/** How many items of each sort were erased. */
export type Erased = Readonly<Record<string, number>>;

/** Finds what no key leads to by reading the whole table; each method may be repeated after a crash. */
export interface Eraser {
  /**
   * Data of people in this day's thirtieth of the table who were in no group for 430 days, had no event since, and are
   * no employees. After 430 days no older event can be accepted.
   */
  leavers(nowMs: number): Promise<Erased>;
  /** Erases a removed connection, except its name and the record of the erasure. */
  connection(connection: ConnectionName): Promise<Erased>;
  /** Erases values that identify a person, and the person's name as an actor. The audit is not changed. */
  person(
    connection: ConnectionName,
    who: { readonly member: MemberId; readonly roles: ReadonlySet<RoleId> },
  ): Promise<Erased>;
}
