import type { ConnectionName, MemberId, RoleId } from '../../domain/ids.ts';

export type Erased = Readonly<Record<string, number>>;

/** Erases data by a scan of the table, because the keys are not known. Each method can be repeated after a crash. */
export interface Eraser {
  /**
   * Erases the data of people who were in no group for 430 days, had no event in this time, and are not employees. Each
   * day, it scans one thirtieth of the table. groupsync refuses older events, so
   * no event can bring erased data back.
   */
  leavers(nowMs: number): Promise<Erased>;
  /** Erases a removed connection, except its name and the record of the erasure. */
  connection(connection: ConnectionName): Promise<Erased>;
  /**
   * Erases values that identify a person. Outside the audit, also erases the name of a person who is stored as an actor.
   * The audit does not change.
   */
  person(
    connection: ConnectionName,
    who: { readonly member: MemberId; readonly roles: ReadonlySet<RoleId> },
  ): Promise<Erased>;
}
