import type { GroupRef, PlatformGroupId } from '../domain/ids.ts';
import type { ResolvePeople } from './match/resolve.ts';
import type { ApplyPorts, UserStore } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import type { Platform } from './ports/platform.ts';

/**
 * The ports for reading facts. Apply passes ports that may also store something, such as bindings. A preview passes
 * ports without these writes.
 */
export interface Reading {
  readonly connection: Connection;
  /** Rejects if the connection was changed since the pass began. */
  readonly confirm?: () => Promise<void>;
  readonly platform: { readonly groups: Pick<Platform['groups'], 'list' | 'get'> };
  readonly ports: Pick<ApplyPorts, 'clock'> & {
    readonly claims: Pick<ApplyPorts['claims'], 'owners' | 'previousOwner' | 'claimedBy'>;
    readonly index: Pick<ApplyPorts['index'], 'all'>;
    readonly connections: Pick<ApplyPorts['connections'], 'current'>;
    /** If `registers` is missing, all members are read. */
    readonly groups: Pick<
      ApplyPorts['groups'],
      'read' | 'readMany' | 'members' | 'readView' | 'readChange' | 'readHeld'
    > &
      Partial<Pick<ApplyPorts['groups'], 'registers'>>;
    /** A preview omits `copyToMember` and `noteUnknown`, because both write. */
    readonly users: Pick<UserStore, 'read'> & Partial<Pick<UserStore, 'copyToMember' | 'noteUnknown'>>;
    /** A preview omits `bind`. The preview then uses a first match without storing the binding. */
    readonly people: ResolvePeople;
    readonly createSettleMs: number;
  };
  /**
   * Claims a platform group. `createdAtMs` is given if the group's own POST created it.
   * @returns the directory group that keeps the platform group; undefined if the claim succeeded
   */
  readonly claim: (id: PlatformGroupId, createdAtMs?: number) => Promise<GroupRef | undefined>;
}
