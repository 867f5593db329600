import type { FunctionKey } from '../shared/contract/names.ts';
import type { ConnectionSettings } from '../shared/contract/settings.ts';
import type { ConnectionName } from '../shared/domain/ids.ts';
import type { LocalFunction } from './invocation.ts';
import type { GroupReport } from './report.ts';
import type { ScimEndpoint } from './scim-endpoint.ts';

/** What the stack runs: the deployed handlers, and the few things that a person would do through the command line. */
export interface StackParts {
  readonly handlers: Readonly<Record<FunctionKey, LocalFunction['handler']>>;
  /** Reads the directory of the connection. */
  readonly directory: LocalFunction['handler'];
  /** Writes the connection; one that exists keeps what is not given here. */
  readonly putConnection: (connection: {
    readonly name: ConnectionName;
    readonly company: string;
    readonly settings: ConnectionSettings;
  }) => Promise<void>;
  readonly readGroups: (connection: ConnectionName) => Promise<readonly GroupReport[]>;
  /** Ends the window that a wake-up waits for; false where it waits for something else. */
  readonly endWindow: (wakeUp: string) => Promise<boolean>;
  readonly startScim: (connection: ConnectionName) => Promise<ScimEndpoint>;
  /** Leases, open intents and promises of a process that was killed would hold its successor up. */
  readonly endPreviousWork: (connection: ConnectionName) => Promise<void>;
}

/** Loads the parts once the environment is in place, because the handlers read it when they are first called. */
export type LoadParts = () => Promise<StackParts>;
