import type { ConnectionName, MemberId, RoleId } from '../../domain/ids.ts';

/** How many items of each sort were erased. */
export type Erased = Readonly<Record<string, number>>;

/** Finds what no key leads to by reading the whole table; each method may be repeated after a crash. */
export interface Eraser {
  /**
   * What is known of people who have been in no group for 430 days, of whom nothing was said since, and who are no
   * employees, in this day's thirtieth of the table. By then no older event can be accepted any more.
   */
  leavers(nowMs: number): Promise<Erased>;
  /** Everything that is kept of a removed connection, save its name, and who had it erased when. */
  connection(connection: ConnectionName): Promise<Erased>;
  /** What still points to a person by a value, and the name where they did something; not in the audit. */
  person(
    connection: ConnectionName,
    who: { readonly member: MemberId; readonly roles: ReadonlySet<RoleId> },
  ): Promise<Erased>;
}
