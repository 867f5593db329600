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
  /** Waits in simulated time. The wait continues even if the worker that made the request crashes. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly people?: readonly PersonSpec[];
  /** Whether each refresh issues a new refresh token and ends the previous one. If undefined, the seed decides. */
  readonly rotates?: boolean;
}

/** The true state of a group. Faults may make an answer show another state. */
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

/** A write that the platform accepted, with the values after it. A deletion has the group's last values. */
export interface PlatformWrite extends Pick<HeldGroup, 'id' | 'spokeId' | 'name' | 'version' | 'madeBy'> {
  readonly atMs: number;
  readonly action: 'create' | 'patch' | 'put' | 'delete';
  /** The users that the write actually added and removed. The body of the request may name other users. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly sent: GroupBody;
  /** The worker's name, or `client` for another client. */
  readonly by: string;
  readonly token: string;
  /** True if the write did not change the group. */
  readonly isVain: boolean;
  readonly late: boolean;
}
export type ClientWrite = PlatformWrite & { readonly initiator: InitiatorType };

export interface PlatformCall {
  readonly atMs: number;
  readonly method: string;
  readonly route: Request['route'];
  readonly id?: string | undefined;
  /** The external id of the group; for a POST, the external id in the body. */
  readonly spokeId?: string | undefined;
  /**
   * The status of the answer. `none`: the platform may have received the request, but the caller got no answer.
   * `refused`: the platform did not receive the request.
   */
  readonly status: number | 'none' | 'refused';
  /** Set if the platform refused the write only because of its version token. */
  readonly isStale?: true | undefined;
  /** Platform faults that changed the answer or the effect of the call. */
  readonly platformFaults: readonly string[];
  readonly by: string;
  /** The bearer or refresh token; empty if the call had no token. */
  readonly token: string;
}
