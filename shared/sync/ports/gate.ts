import type { Gate } from '../../domain/gate.ts';
import type { ConnectionName } from '../../domain/ids.ts';

export interface GateStore {
  read(connection: ConnectionName): Promise<Gate>;
  /** Replaces what `seen` was; false where somebody else changed the gate meanwhile. */
  write(connection: ConnectionName, seen: Gate, next: Gate): Promise<boolean>;
}
