import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Agent } from 'undici';
import { createSecrets } from '../aws/secrets.ts';
import { ENVIRONMENT } from '../contract/names.ts';
import { createPlatforms } from '../platform/platforms.ts';
import { createDeadLetterQueue } from '../queues/dead-letter-queue.ts';
import { createAuditLog } from '../store/audit-log.ts';
import { createClaimStore } from '../store/claim-store.ts';
import { createDriftLog } from '../store/drift-log.ts';
import { createGateStore } from '../store/gate-store.ts';
import { createGroupIndex } from '../store/group-index.ts';
import { createGroupStore } from '../store/group-store.ts';
import { createGuardStore } from '../store/guard-store.ts';
import { createHealthStore } from '../store/health-store.ts';
import { createPeopleStore } from '../store/people-store.ts';
import { createFeedStore, createLeases } from '../store/reconcile-store.ts';
import type { ApplyPorts, PeoplePorts } from '../sync/ports/bundles.ts';
import { sleep, systemClock, systemRandom } from './clock.ts';
import { required } from './config.ts';
import { reportOddGroups } from './report.ts';
import type { ReconcileTaskPorts } from './run-reconcile.ts';
import { type Base, wireBase, wireState } from './wire.ts';

const CONNECTIONS_PER_ORIGIN = 16;
/** Shorter than any call, so that a platform that cannot be reached is told from one that does not answer. */
const CONNECT_TIMEOUT_MS = 3_000;

/** The second half of the composition root: the functions that talk to the platform. */
function wireSync({ config, logger }: Base) {
  const state = wireState(config);
  const dispatcher = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    connect: { timeout: CONNECT_TIMEOUT_MS },
  });
  const leases = createLeases(state.table);
  const secrets = createSecrets(new SecretsManagerClient({}), config.prefix);
  return {
    ...state,
    groups: createGroupStore(state.table),
    people: createPeopleStore(state.table),
    claims: createClaimStore(state.table),
    guard: createGuardStore(state.table),
    gates: createGateStore(state.table),
    audit: createAuditLog(state.table),
    drift: createDriftLog(state.table),
    index: createGroupIndex(state.table),
    feed: createFeedStore(state.table),
    health: createHealthStore(state.table),
    leases,
    platforms: createPlatforms({
      secrets,
      leases,
      dispatcher,
      onAttempt: (facts) => reportOddGroups(facts, logger),
      clock: systemClock,
      random: systemRandom,
      sleep,
    }),
    createSettleMs: config.createSettleMs,
  };
}

export function wireApply(): Base & { readonly ports: ApplyPorts } {
  const base = wireBase();
  const sync = wireSync(base);
  const deadLetters = createDeadLetterQueue(sync.sqs, {
    queueUrl: required(base.config.queueUrls.applyDlq, ENVIRONMENT.applyDlqUrl),
    source: 'apply',
    clock: systemClock,
  });
  return { ...base, ports: { ...sync, deadLetters } };
}

export function wirePeople(): Base & { readonly ports: PeoplePorts & Pick<ApplyPorts, 'connections'> } {
  const base = wireBase();
  return { ...base, ports: wireSync(base) };
}

export function wireReconcile(): Base & { readonly ports: ReconcileTaskPorts } {
  const base = wireBase();
  return { ...base, ports: wireSync(base) };
}

/** What the local stack asks beside the functions that it runs; they share its environment. */
export function wireLocalStack() {
  const base = wireBase();
  return { ...base, ports: wireSync(base) };
}
