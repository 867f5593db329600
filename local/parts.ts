import type { FunctionKey } from '../shared/contract/names.ts';
import type { ConnectionSettings } from '../shared/contract/settings.ts';
import type { ConnectionName } from '../shared/domain/ids.ts';
import type { GroupCounts } from './convergence.ts';
import type { LocalFunction } from './invocation.ts';
import type { GroupReport } from './report.ts';
import type { ScimEndpoint } from './scim-endpoint.ts';

/** The deployed handlers, and functions for actions that operators of a deployed stack do with commands. */
export interface StackParts {
  readonly handlers: Readonly<Record<FunctionKey, LocalFunction['handler']>>;
  readonly directory: LocalFunction['handler'];
  /** Creates or updates the connection. An existing connection keeps the fields that the argument lacks. */
  readonly putConnection: (connection: {
    readonly name: ConnectionName;
    readonly company: string;
    readonly settings: ConnectionSettings;
  }) => Promise<void>;
  readonly countGroups: (connection: ConnectionName) => Promise<GroupCounts>;
  readonly readGroups: (connection: ConnectionName) => Promise<readonly GroupReport[]>;
  /** Ends the coalescing window of a wake-up. Returns false if the wake-up does not wait for the end of a window. */
  readonly endWindow: (wakeUp: string) => Promise<boolean>;
  readonly startScim: (connection: ConnectionName) => Promise<ScimEndpoint>;
  /** Ends the leases, intents and wake-ups of a killed process, so that they do not delay this process. */
  readonly endPreviousWork: (connection: ConnectionName) => Promise<void>;
}

/** Loads the parts. The caller sets the environment first, because the handlers read it at their first call. */
export type LoadParts = () => Promise<StackParts>;
