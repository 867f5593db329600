import type { DriftKind } from '../../domain/drift.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { Platform } from '../ports/platform.ts';

/** One group's connection and platform, opened once per invocation. */
export interface Lane {
  readonly connection: Connection;
  readonly platform: Platform;
  readonly ports: ApplyPorts;
  /** Told of each difference by somebody else that was not known before. */
  readonly found: (kind: DriftKind) => void;
}
