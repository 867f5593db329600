import { setFlagsFromString } from 'node:v8';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { Agent, buildConnector } from 'undici';
import { deciderOf, signedIn, verifyIdentity } from '../aws/identity-proof.ts';
import { createNotifier } from '../aws/notifier.ts';
import { createSecrets } from '../aws/secrets.ts';
import type { DecideInvocation } from '../contract/invocation.ts';
import { ENVIRONMENT } from '../contract/names.ts';
import { type DecisionPorts, provenText } from '../operate/decisions.ts';
import { outcomeOf } from '../platform/call-outcome.ts';
import { createPlatforms } from '../platform/platforms.ts';
import { createDeadLetterQueue } from '../queues/dead-letter-queue.ts';
import { createMailbox } from '../queues/mailbox.ts';
import { createConnectionStore } from '../store/connection-store.ts';
import { createEraser } from '../store/eraser.ts';
import { createScimTokenStore } from '../store/scim-token-store.ts';
import { createCallRecord } from '../sync/call-record.ts';
import type { ApplyPorts, ToolPorts } from '../sync/ports/bundles.ts';
import type { AuditActor } from '../sync/ports/logs.ts';
import { sleep, systemClock, systemRandom } from './clock.ts';
import { required } from './config.ts';
import { errorFields } from './logger.ts';
import { reportOdd } from './report.ts';
import type { ReconcileTaskPorts } from './run-reconcile.ts';
import { storesOver } from './stores.ts';
import { type Base, wireBase, wireState } from './wire.ts';

const CONNECTIONS_PER_ORIGIN = 16;
/**
 * Shorter than the usual limit of a call. So an unreachable platform is distinguished from one that does not answer.
 */
const CONNECT_TIMEOUT_MS = 3_000;

/**
 * The budget after which V8 optimizes undici's WebAssembly parser in the background. With V8's default (1.8 million, 13
 * million in Node 24), the optimization takes 100 ms of a new worker. The flag is set as late as possible, because
 * setting a flag makes V8 compile Node's own modules again.
 */
const WASM_BUDGET = '--wasm-tiering-budget=200000000';

/** The second half of the composition root: the ports of the functions that call the platform. */
function wireSync({ config, logger }: Base) {
  const state = wireState({ config, logger });
  const reach = buildConnector({ timeout: CONNECT_TIMEOUT_MS });
  const dispatcher = new Agent({
    connections: CONNECTIONS_PER_ORIGIN,
    connect: (target, done) => {
      setFlagsFromString(WASM_BUDGET);
      reach(target, done);
    },
  });
  const stores = storesOver(state.table);
  const calls = createCallRecord(stores.gates, systemClock);
  const secrets = createSecrets(new SecretsManagerClient({}), config.prefix);
  return {
    ...state,
    ...stores,
    gates: calls.gates,
    /** Records the outcomes of the calls at the end of an invocation, while calls fail. */
    recordCalls: () =>
      calls.flush().catch((error) => logger.warn('calls were not recorded', errorFields(error))),
    dispatcher,
    platforms: createPlatforms({
      secrets,
      leases: stores.leases,
      dispatcher,
      publicOnly: config.isDeployed && !config.isEmulated,
      onAttempt(facts, connection) {
        reportOdd(facts, logger);
        const outcome = outcomeOf(facts);
        if (outcome !== undefined) calls.count(connection, outcome);
      },
      clock: systemClock,
      random: systemRandom,
      sleep,
    }),
    createSettleMs: config.createSettleMs,
  };
}

type RecordsCalls = Pick<ReturnType<typeof wireSync>, 'recordCalls'>;

export function wireApply(): Base & { readonly ports: ApplyPorts & RecordsCalls } {
  const base = wireBase();
  const sync = wireSync(base);
  const queueUrl = required(base.config.queueUrls.applyDlq, ENVIRONMENT.applyDlqUrl);
  const deadLetters = createDeadLetterQueue(sync.sqs, { queueUrl, source: 'apply', clock: systemClock });
  return { ...base, ports: { ...sync, deadLetters } };
}

export function wirePeople(): Base & { readonly ports: ReturnType<typeof wireSync> } {
  const base = wireBase();
  return { ...base, ports: wireSync(base) };
}

export function wireReconcile(): Base & {
  readonly ports: ReconcileTaskPorts & RecordsCalls & Pick<ToolPorts, 'eraser'>;
  /** Returns the ports for the decision of a person. @throws if the proof does not show who the person is */
  readonly deciding: (sent: SentDecision) => Promise<DecisionPorts>;
} {
  const base = wireBase();
  const sync = wireSync(base);
  const { prefix, notify: targets, isDeployed, queueUrls, persons } = base.config;
  const secrets = new SecretsManagerClient({});
  const { dispatcher } = sync;
  const identify = identifier(base.config);
  const own = { sns: new SNSClient({}), secrets, dispatcher, isLocal: !isDeployed };
  const depth = async (name: 'events' | 'apply', url: string | undefined) => {
    const queueUrl = async () => required(url, `the URL of the dead-letter queue of ${name}`);
    const { visible, inFlight } = await createMailbox(sync.sqs, { name, queueUrl }).counts();
    return visible + inFlight;
  };
  return {
    ...base,
    deciding: async (sent) => {
      const actor = await identify(sent);
      // A decision must see the newest settings.
      const connections = createConnectionStore(sync.table, { clock: systemClock, rememberMs: 0 });
      return { ...sync, connections, caller: async () => actor, persons };
    },
    ports: {
      ...sync,
      eraser: createEraser(sync.table),
      tokens: createScimTokenStore(sync.table),
      notifier: createNotifier({ ...own, prefix, targets }),
      deadLetterCount: async () =>
        (await depth('events', queueUrls.eventsDlq)) + (await depth('apply', queueUrls.applyDlq)),
    },
  };
}

type SentDecision = Pick<DecideInvocation, 'decision' | 'proof' | 'person'>;

/** An emulator has no STS that knows people, so the name in the proof counts there. */
const identifier =
  ({ prefix, region, isDeployed, isEmulated, consoleRole }: Base['config']) =>
  async ({ decision, proof, person }: SentDecision): Promise<AuditActor> => {
    if (!isDeployed || isEmulated) {
      return person === undefined ? { kind: 'operator', id: proof['user'] ?? 'unknown' } : signedIn(person);
    }
    const verification = { stage: prefix, region, nowMs: systemClock(), fetch };
    const actor = await verifyIdentity(provenText(decision, person), proof, verification);
    return deciderOf(actor, person, consoleRole);
  };

/** The ports of the local stack itself. It uses the same environment as the functions that it runs. */
export const wireLocalStack = wirePeople;
