import type { Role } from '../../shared/contract/console.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Overview } from './overview.ts';
import type { Session } from './session.ts';

export interface RequestContext {
  readonly connection: ConnectionName;
  readonly prefix: string;
  readonly ports: ToolPorts;
  readonly overview: Overview;
  readonly session: Session;
  readonly formatCommands: (text: string, connection: ConnectionName) => string;
  /** @throws Refused if the person does not have the role for the connection */
  readonly requireRole: (role: Role) => void;
  /** False for a person with AWS credentials. */
  readonly isAdministrator: boolean;
  readonly sees: (connection: string) => boolean;
  readonly seesMessages: boolean;
  /** Aborted when the page closes. */
  readonly signal: AbortSignal;
}
