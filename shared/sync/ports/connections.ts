import * as z from 'zod';
import { ContractReport } from '../../contract/contract-report.ts';
import { ConnectionSettings } from '../../contract/settings.ts';
import { PROTECTED_SETTINGS } from '../../contract/weakening.ts';
import { connectionText, type Frozen, number, text } from '../../domain/forms.ts';
import type { Gate } from '../../domain/gate.ts';
import type { ConnectionName } from '../../domain/ids.ts';

/** A change of a protected setting that waits for a second person; until then the old value applies. */
const SettingRequest = z.lazy(() =>
  z.object({
    key: z.enum(PROTECTED_SETTINGS),
    /** The new value. It is parsed as a setting when the request is confirmed. */
    value: z.unknown(),
    by: text,
    atMs: number,
  }),
);
export type SettingRequest = Readonly<z.infer<typeof SettingRequest>>;

/** A company that groupsync serves. */
export const Connection = z.lazy(() =>
  z
    .object({
      name: connectionText,
      /** The company id that `/me` returned when the connection was made. A secret of another company is refused. */
      company: text,
      settings: ConnectionSettings,
      /** Whether groupsync only plans and writes nothing to the platform. `resume` ends this. */
      observing: z.boolean(),
      /**
       * Each change raises this number. A change that is based on an older number is refused. Absent before the
       * connection is stored.
       */
      revision: number.exactOptional(),
      /** All data from before this time was erased. Older events are refused, or they could restore earlier members. */
      eventsSinceMs: number.exactOptional(),
      /** The time of a change of settings that affects plans. Present until all groups are marked dirty for it. */
      replanSinceMs: number.exactOptional(),
      /** The requests; at most one for each setting. */
      requests: z.array(SettingRequest).exactOptional(),
      /**
       * The report of `probe`. A report that cannot be read counts as missing, because a new one can be made quickly.
       */
      contract: z.unknown().optional(),
    })
    .transform(({ contract: kept, ...connection }) => {
      const contract = kept === undefined ? undefined : ContractReport.safeParse(kept).data;
      // A change of the base URL does not delete the report, so it may be about another base URL or company.
      return contract?.baseUrl === connection.settings.baseUrl && contract.company === connection.company
        ? { ...connection, contract }
        : connection;
    }),
);
export type Connection = Readonly<z.infer<typeof Connection>> & {
  readonly contract?: ContractReport | undefined;
  /** Dotted keys of stored settings that only a newer release knows. They stay stored and are ignored. */
  readonly unknownSettings?: readonly string[];
};

export interface Replanned {
  /** Notes that all groups are marked dirty for the change at `sinceMs`. No effect after another change. */
  replanned(name: ConnectionName, sinceMs: number): Promise<void>;
}

export interface Connections {
  /** @returns undefined if the connection does not exist. The result may be 30 seconds old */
  find(name: ConnectionName): Promise<Connection | undefined>;
  /** @param onUnreadable called for each unreadable item, which is then left out; without it, such an item is an error */
  list(onUnreadable?: (name: ConnectionName, error: Error) => void): Promise<readonly Connection[]>;
}

export interface CurrentConnections {
  /** Returns the connection as it is stored now, not cached. Needed to conclude that a group is in sync. */
  current(name: ConnectionName): Promise<Connection | undefined>;
}

export interface ConnectionStore extends Connections, CurrentConnections, Replanned {
  /** Overwrites the stored connection, for the setup of a stage. An operator's change uses `replace`. */
  save(connection: Connection): Promise<void>;
  /**
   * Replaces the `seen` connection (undefined for a new connection). Returns false if the connection was changed since.
   */
  replace(next: Connection, seen: Connection | undefined): Promise<boolean>;
  remove(name: ConnectionName): Promise<void>;
  /** Stores the report of `probe`. `save` and `replace` do not change the report. */
  keepContract(name: ConnectionName, report: ContractReport): Promise<void>;
  /** Reserves the name for its company forever. The caller does this before it removes the connection. */
  keepName(name: ConnectionName, company: string, ended: Ended): Promise<void>;
  /**
   * Returns the company of the present connection with this name, or of a removed one. All stored items of the name
   * belong to this company.
   */
  companyOf(name: ConnectionName): Promise<string | undefined>;
}

export interface Ended {
  readonly removedMs: number;
  /** The time at which the data of the connection was erased. If an earlier time is stored, it stays. */
  readonly erasedMs?: number;
}

export interface GateStore {
  read(connection: ConnectionName): Promise<Gate>;
  /** Replaces the `seen` gate; false if the gate was changed since. */
  write(connection: ConnectionName, seen: Gate, next: Gate): Promise<boolean>;
}

/** The results of the last checks of a connection's credential. */
export const Health = z.lazy(() =>
  z.object({
    checkedAtMs: number,
    /** The time of the latest successful check; undefined if there was none. */
    goodAtMs: number.exactOptional(),
    lastFailure: z.object({ atMs: number, message: text }).exactOptional(),
    /** The platform's user behind the credential, since the latest successful check. */
    holder: z
      .object({
        user: text,
        /** The last day of the user's employment, YYYY-MM-DD, if an end is known. */
        lastDay: text.exactOptional(),
      })
      .exactOptional(),
  }),
);
export type Health = Frozen<z.infer<typeof Health>>;

export interface HealthStore {
  read(connection: ConnectionName): Promise<Health | undefined>;
  write(connection: ConnectionName, health: Health): Promise<void>;
}
