import type { ConnectionName } from '../../domain/ids.ts';

/** What a connection's credential was last good, or bad, for. */
export interface Health {
  readonly checkedAtMs: number;
  /** undefined where it has never been good. */
  readonly goodAtMs?: number;
  readonly lastFailure?: { readonly atMs: number; readonly message: string };
}

export interface HealthStore {
  read(connection: ConnectionName): Promise<Health | undefined>;
  write(connection: ConnectionName, health: Health): Promise<void>;
}
