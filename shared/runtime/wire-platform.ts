import { setFlagsFromString } from 'node:v8';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { Agent, buildConnector } from 'undici';
import { createSecrets } from '../aws/secrets.ts';
import { ENVIRONMENT } from '../contract/names.ts';
import { outcomeOf } from '../platform/call.ts';
import { createPlatforms } from '../platform/platforms.ts';
import { createDeadLetterQueue } from '../queues/dead-letter-queue.ts';
import { storesOver } from '../store/stores.ts';
import { createCallRecord } from '../sync/call-record.ts';
import { sleep, systemClock, systemRandom } from './clock.ts';
import { required } from './config.ts';
import { errorFields } from './logger.ts';
import { recordable } from './recorder.ts';
import { reportIgnored } from './report.ts';
import { type Base, wireBase, wireState } from './wire.ts';

const CONNECTIONS_PER_ORIGIN = 16;
/**
 * The time limit for opening a connection. It is shorter than the time limit of a call. So an error shows whether the
 * platform is unreachable, or is reachable and does not answer.
 */
const CONNECT_TIMEOUT_MS = 3_000;

/**
 * V8 optimizes undici's WebAssembly parser in the background when the parser has used up this budget. The optimization
 * takes 100 ms of a new worker, so the flag sets a higher budget than V8's default (1.8 million; 13 million in Node
 * 24). The flag is set as late as possible, because V8 compiles Node's own modules again after the flag is set.
 */
const WASM_BUDGET = '--wasm-tiering-budget=200000000';

/** Returns the ports of the functions that call the platform. It is the second half of the composition root. */
export function wireSync({ config, logger }: Base) {
  const state = wireState({ config, logger });
  const reach = buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  const dispatcher = recordable(
    new Agent({
      connections: CONNECTIONS_PER_ORIGIN,
      connect: (target, done) => {
        setFlagsFromString(WASM_BUDGET);
        reach(target, done);
      },
    }),
  );
  const stores = storesOver(state.table);
  const calls = createCallRecord(stores.gates, systemClock);
  const secrets = createSecrets(new SecretsManagerClient({}), config.prefix);
  const calling = {
    secrets,
    leases: stores.leases,
    dispatcher,
    publicOnly: config.isDeployed && !config.isEmulated,
    clock: systemClock,
    random: systemRandom,
    sleep,
  };
  return {
    ...state,
    ...stores,
    gates: calls.gates,
    /** Called at the end of an invocation. Records the outcomes of the calls, if calls fail. */
    recordCalls: () =>
      calls.flush().catch((error) => logger.warn('calls were not recorded', errorFields(error))),
    dispatcher,
    calling,
    platforms: createPlatforms({
      ...calling,
      onAttempt(facts, connection) {
        reportIgnored(facts, logger);
        const outcome = outcomeOf(facts);
        if (outcome !== undefined) calls.count(connection, outcome);
      },
    }),
    createSettleMs: config.createSettleMs,
  };
}

export function wireApply() {
  const base = wireBase();
  const sync = wireSync(base);
  const queueUrl = required(base.config.queueUrls.applyDlq, ENVIRONMENT.applyDlqUrl);
  const deadLetters = createDeadLetterQueue(sync.sqs, { queueUrl, source: 'apply', clock: systemClock });
  return { ...base, ports: { ...sync, deadLetters } };
}

export function wirePeople() {
  const base = wireBase();
  return { ...base, ports: wireSync(base) };
}

/** Returns the ports of the local stack, which has the same environment variables as the functions that it runs. */
export const wireLocalStack = wirePeople;
