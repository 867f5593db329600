import * as z from 'zod';
import type { SettingProblem } from '../../contract/change-setting.ts';
import { ContractReport } from '../../contract/contract-report.ts';
import { ConnectionSettings } from '../../contract/settings.ts';
import { PROTECTED_SETTINGS } from '../../contract/weakening.ts';
import { Block } from '../../domain/block.ts';
import { connectionText, type Frozen, number, text } from '../../domain/forms.ts';
import { CorruptItemError } from './store-errors.ts';

/** A requested change of a protected setting. The old value applies until a second person confirms the request. */
const SettingRequest = z.lazy(() =>
  z.object({
    key: z.enum([...PROTECTED_SETTINGS, 'scim_token']),
    /** The new value, which is parsed as a setting when the request is confirmed; or the prefix of the token. */
    value: z.unknown(),
    by: text,
    atMs: number,
  }),
);
export type SettingRequest = Readonly<z.infer<typeof SettingRequest>>;

export const Connection = z.lazy(() =>
  z
    .object({
      name: connectionText,
      /** The company id from `/me` when the connection was made. groupsync refuses a secret of another company. */
      company: text,
      settings: ConnectionSettings,
      /** Whether groupsync only plans and writes nothing to the platform, until an operator runs `resume`. */
      observing: z.boolean(),
      connectedMs: number.exactOptional(),
      /**
       * Each change raises this number. The store refuses a change that was made from an older revision. Absent before
       * the connection is stored.
       */
      revision: number.exactOptional(),
      /** All data from before this time was erased. Older events are refused, because they could restore members. */
      eventsSinceMs: number.exactOptional(),
      /** The time of a change of settings that affects plans. Present until all groups are marked dirty for it. */
      replanSinceMs: number.exactOptional(),
      /** The id of the table to which the connection writes. A connection in another table was restored, and observes. */
      tableId: text.exactOptional(),
      /** The creation of the restored table; older facts may be outdated (`isRestated`). Absent without a restore. */
      restoredAtMs: number.exactOptional(),
      /** The requests; at most one for each setting. */
      requests: z.array(SettingRequest).exactOptional(),
      /** The blocked people. Workers read this item in each pass anyway, so a block costs no further read. */
      blocks: z.array(Block).readonly().exactOptional(),
      /** The report of `probe`. An unreadable report counts as missing, because `probe` can run again. */
      contract: z.unknown().optional(),
    })
    .transform(({ contract: kept, ...connection }) => {
      const contract = ContractReport.safeParse(kept).data;
      // The stored report may be about another base URL or company, because a change of the base URL does not delete
      // it.
      return contract?.baseUrl === connection.settings.baseUrl && contract.company === connection.company
        ? { ...connection, contract }
        : connection;
    }),
);
export type Connection = Readonly<z.infer<typeof Connection>> & {
  readonly contract?: ContractReport | undefined;
  /** Dotted keys of stored settings that only a newer release knows. This release ignores and keeps them. */
  readonly unknownSettings?: readonly string[];
  /** The problems of invalid settings. `settings` then has the defaults of these settings. */
  readonly invalid?: readonly SettingProblem[];
};

/** Nothing works for a connection with invalid settings, except the commands that show and repair them. */
export class InvalidSettingsError extends CorruptItemError {
  override readonly name = 'InvalidSettingsError';
  readonly connection: Connection;

  constructor(connection: Connection) {
    const { name, invalid } = connection;
    super(`the connection ${name} has invalid settings: ${problemsOf(invalid)}; next: ${repairOf(name)}`);
    this.connection = connection;
  }
}

export const problemsOf = (invalid: Connection['invalid'] = []): string =>
  invalid.map(({ text }) => text).join('; ');

export const repairOf = (name: string): string => `groupsync connections set ${name} KEY=VALUE`;

/** The results of the last checks of a connection's credential. */
export const Health = z.lazy(() =>
  z.object({
    /** The time of the latest successful check; undefined if there was none. */
    goodAtMs: number.exactOptional(),
    /** `refused`: the platform refused the credential. */
    lastFailure: z
      .object({ atMs: number, message: text, refused: z.boolean().exactOptional() })
      .exactOptional(),
    /** The platform's user to which the credential belongs, as the latest successful check showed. */
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

/** How many groups and memberships needed work at the first run of the feed in each hour of the last day. */
export const Trend = z.lazy(() =>
  z.object({
    hours: z.array(
      z.object({ atMs: number, waiting: number, held: number, failed: number, pending: number }),
    ),
  }),
);
export type Trend = Frozen<z.infer<typeof Trend>>;
