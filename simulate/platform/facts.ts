import type { Random } from '../random.ts';
import type { RunLog } from '../run-log.ts';
import type { PersonSpec, Traits } from '../simulation-run.ts';
import type { Request } from './request.ts';
import type { GroupBody, InitiatorType, PlatformGroup } from './rules.ts';

export interface PlatformOptions {
  readonly company: string;
  readonly clock: () => number;
  readonly random: Random;
  readonly traits: Traits;
  readonly runLog: RunLog;
  /** In simulated time. It belongs to no worker, so no crash ends it. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly people?: readonly PersonSpec[];
  /** Whether each refresh voids the refresh token; drawn where nothing is said. */
  readonly rotates?: boolean;
}

/** A group as the platform truly holds it, whatever it shows. */
export interface HeldGroup extends Omit<PlatformGroup, 'version'> {
  readonly version: string | number;
  readonly createdAtMs: number;
  readonly madeBy: 'us' | 'client';
}

export interface HeldEmployee {
  readonly role: string;
  readonly email: string | null;
  readonly state: string;
  readonly userId: string | null;
  readonly number?: string | undefined;
}

/** A write that was accepted. spokeId, name and version are those after it; of a deletion, the last. */
export interface PlatformWrite extends Pick<HeldGroup, 'id' | 'spokeId' | 'name' | 'version' | 'madeBy'> {
  readonly atMs: number;
  readonly action: 'create' | 'patch' | 'put' | 'delete';
  /** What truly changed among the users; not what was asked for. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** The fields of the body, as they were sent. */
  readonly sent: GroupBody;
  /** The worker's name, or `client` for another client. */
  readonly by: string;
  readonly token: string;
  /** It left the group as it was. */
  readonly isVain: boolean;
  /** Done after its caller had given up. */
  readonly late: boolean;
}
export type ClientWrite = PlatformWrite & { readonly initiator: InitiatorType };

/** A request of ours. */
export interface PlatformCall {
  readonly atMs: number;
  readonly method: string;
  readonly route: Request['route'];
  /** Id of the group or role in the path. */
  readonly id?: string | undefined;
  /** Of the group that it is about: the held one's; of a POST the one that was sent. */
  readonly spokeId?: string | undefined;
  /** `none`: its caller heard no answer. `refused`: no connection came about. */
  readonly status: number | 'none' | 'refused';
  /** Refused for its version alone. */
  readonly isStale?: true | undefined;
  /** What bent the answer or its work. */
  readonly platformFaults: readonly string[];
  readonly by: string;
  /** Bearer or refresh token; empty where none was sent. */
  readonly token: string;
}
