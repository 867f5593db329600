import type { GroupRef, PlatformGroupId } from '../domain/ids.ts';
import type { ResolvePeople } from './match/resolve.ts';
import type { ApplyPorts } from './ports/bundles.ts';
import type { Connection } from './ports/connections.ts';
import type { UserStore } from './ports/desired.ts';
import type { Platform } from './ports/platform.ts';

/** The ports for reading facts: apply's own ports, or, for a preview, ports that write nothing. */
export interface Reading {
  readonly connection: Connection;
  /** Rejects if the connection was changed since the pass began. */
  readonly confirm?: () => Promise<void>;
  readonly platform: { readonly groups: Pick<Platform['groups'], 'list' | 'get'> };
  readonly ports: Pick<ApplyPorts, 'clock'> & {
    /** Without `registers`, all members are read. */
    readonly claims: Pick<ApplyPorts['claims'], 'owners' | 'previousOwner' | 'claimedBy'>;
    readonly groups: Pick<
      ApplyPorts['groups'],
      'read' | 'readMany' | 'members' | 'readView' | 'readChange' | 'readHeld'
    > &
      Partial<Pick<ApplyPorts['groups'], 'registers'>>;
    /** Without `copyToMember`, registers keep their copies; without `noteUnknown`, no unknown user is noted. */
    readonly users: Pick<UserStore, 'read'> & Partial<Pick<UserStore, 'copyToMember' | 'noteUnknown'>>;
    /** Without `bind`, first matches are used but not stored. */
    readonly people: ResolvePeople;
    readonly createSettleMs: number;
  };
  /** Claims a platform group. @returns the directory group that keeps it; undefined: it is claimed now */
  readonly claim: (id: PlatformGroupId) => Promise<GroupRef | undefined>;
}
