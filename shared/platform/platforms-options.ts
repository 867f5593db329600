import type { Dispatcher } from 'undici';
import type { Leases } from '../sync/ports/reconcile.ts';
import type { Secrets } from '../sync/ports/secrets.ts';
import type { AttemptFacts } from './call.ts';

export interface PlatformsOptions {
  readonly secrets: Secrets;
  readonly clock: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** A refresh of OAuth tokens is one worker's business at a time. */
  readonly leases: Leases;
  /** Connections to every platform, kept alive between invocations. */
  readonly dispatcher: Dispatcher;
  readonly onAttempt?: ((facts: AttemptFacts) => void) | undefined;
}
