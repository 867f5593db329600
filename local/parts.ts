import type { FunctionKey } from '../shared/contract/names.ts';
import type { ConnectionSettings } from '../shared/contract/settings.ts';
import type { ConnectionName } from '../shared/domain/ids.ts';
import type { GroupCounts } from './convergence.ts';
import type { LocalFunction } from './invocation.ts';
import type { GroupReport } from './report.ts';
import type { ScimEndpoint } from './scim-endpoint.ts';

/** The deployed handlers, and the actions that an operator would do through the CLI. */
export interface StackParts {
  readonly handlers: Readonly<Record<FunctionKey, LocalFunction['handler']>>;
  readonly directory: LocalFunction['handler'];
  /** Creates or updates the connection. An existing one keeps the fields that are not given here. */
  readonly putConnection: (connection: {
    readonly name: ConnectionName;
    readonly company: string;
    readonly settings: ConnectionSettings;
  }) => Promise<void>;
  readonly countGroups: (connection: ConnectionName) => Promise<GroupCounts>;
  readonly readGroups: (connection: ConnectionName) => Promise<readonly GroupReport[]>;
  /** Ends the coalescing window of a wake-up; false if the wake-up waits for something else. */
  readonly endWindow: (wakeUp: string) => Promise<boolean>;
  readonly startScim: (connection: ConnectionName) => Promise<ScimEndpoint>;
  /** Ends the leases, open intents and wake-ups of a killed process, because they would delay this process. */
  readonly endPreviousWork: (connection: ConnectionName) => Promise<void>;
}

/** Loads the parts, after the environment is set, because the handlers read it at their first call. */
export type LoadParts = () => Promise<StackParts>;
