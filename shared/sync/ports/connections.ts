import type { ConnectionSettings } from '../../contract/settings.ts';
import type { ConnectionName } from '../../domain/ids.ts';

/** A company that groupsync serves. */
export interface Connection {
  readonly name: ConnectionName;
  /** Company id that `/me` named when the connection was made; a secret of another company is refused. */
  readonly company: string;
  readonly settings: ConnectionSettings;
  /** Plan only, write nothing, until a person resumes. */
  readonly observing: boolean;
}

export interface Connections {
  /** undefined where no such connection exists. May be up to half a minute old. */
  find(name: ConnectionName): Promise<Connection | undefined>;
  list(): Promise<readonly Connection[]>;
}

export interface CurrentConnections {
  /** As it is stored now: for whoever concludes from its settings that a group is in step. */
  current(name: ConnectionName): Promise<Connection | undefined>;
}

export interface ConnectionStore extends Connections, CurrentConnections {
  save(connection: Connection): Promise<void>;
  remove(name: ConnectionName): Promise<void>;
}
