import type { ConnectionName, MemberId, RoleId } from '../../domain/ids.ts';

export type Erased = Readonly<Record<string, number>>;

/** Erases data by a scan of the table, because the keys are not known. Each method can be repeated after a crash. */
export interface Eraser {
  /**
   * Erases the data of people who were in no group and had no event for 430 days, and are neither employees nor SCIM
   * users. Each day, it scans one thirtieth of the table. Events of that age are refused, so the data cannot come back.
   */
  leavers(nowMs: number): Promise<Erased>;
  /** Erases a removed connection, except its name and the record of the erasure. */
  connection(connection: ConnectionName): Promise<Erased>;
  /** Erases values that identify a person, and the person's name as an actor, except in the audit. */
  person(
    connection: ConnectionName,
    who: { readonly member: MemberId; readonly roles: ReadonlySet<RoleId> },
  ): Promise<Erased>;
}
