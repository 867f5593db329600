import type { ConnectionRow } from '../../shared/contract/answers/status.ts';
import type { Role } from '../../shared/contract/console.ts';

/** What the page shows on every page, for one connection or for all that the person may see. */
export interface Live {
  readonly revision: string;
  /** Number of dead-lettered messages of all connections; null if they cannot be counted. */
  readonly deadLetters: number | null;
  readonly holds: number;
  /** The role of the person for the connection. null without sign-in, and in the answer for all connections. */
  readonly role: Role | null;
  /** The actions and queries that this role may not use, with the role that may. Empty without sign-in. */
  readonly refused: Readonly<Record<string, Role>>;
  readonly connections: readonly ConnectionRow[];
}
