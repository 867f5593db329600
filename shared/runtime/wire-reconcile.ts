import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SNSClient } from '@aws-sdk/client-sns';
import { deciderOf, signedIn, verifyIdentity } from '../aws/identity-proof.ts';
import { createNotifier } from '../aws/notifier.ts';
import type { DecideInvocation } from '../contract/invocation.ts';
import { createReaderStore } from '../directory/store/reader-store.ts';
import { provenText } from '../operate/decisions.ts';
import { checkCredential } from '../operate/doctor/credential.ts';
import { createStoredApplicants } from '../platform/applicants.ts';
import type { AttemptFacts } from '../platform/call.ts';
import { createPlatforms } from '../platform/platforms.ts';
import { createMailbox } from '../queues/mailbox.ts';
import { createScimTokenStore } from '../scim/store/scim-token-store.ts';
import { createConnectionStore } from '../store/connection-store.ts';
import { createEraser } from '../store/eraser.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { AuditActor } from '../sync/ports/logs.ts';
import { randomHex, sleep, systemClock } from './clock.ts';
import { required } from './config.ts';
import { reportIgnored } from './report.ts';
import { type Base, wireBase } from './wire.ts';
import { wireSync } from './wire-platform.ts';

/** Returns the ports of the function that runs scheduled tasks, performs decisions and answers operators' questions. */
export function wireReconcile() {
  const base = wireBase();
  const sync = wireSync(base);
  const { prefix, consoleUrl, notify: targets, isDeployed, queueUrls, persons } = base.config;
  const secrets = new SecretsManagerClient({});
  const { dispatcher } = sync;
  const identify = identifier(base.config);
  const own = { sns: new SNSClient({}), secrets, dispatcher, isLocal: !isDeployed };
  const depth = async (name: 'events' | 'apply', url: string | undefined) => {
    const queueUrl = async () => required(url, `the URL of the dead-letter queue of ${name}`);
    const { visible, inFlight } = await createMailbox(sync.sqs, { name, queueUrl }).counts();
    return visible + inFlight;
  };
  // Decisions and questions must use the newest settings, so connections are not cached here.
  const connections = createConnectionStore(sync.table, { clock: systemClock, rememberMs: 0 });
  const tokens = createScimTokenStore(sync.table);
  const applicants = createStoredApplicants(sync.calling);
  // Calls for an operator are not counted as outcomes. Such a call is not repeated after a failure, so one failure
  // would show the endpoint as failing for two hours.
  const onAttempt = (facts: AttemptFacts) => reportIgnored(facts, base.logger);
  const platforms = createPlatforms({ ...sync.calling, onAttempt });
  return {
    ...base,
    /** Returns the ports for a person's decision. @throws Error if the proof does not show who the person is */
    deciding: async (sent: SentDecision) => {
      const actor = await identify(sent);
      const own = { platforms, connections, tokens, reader: createReaderStore(sync.table) };
      return { ...sync, ...own, randomHex, sleep, caller: async () => actor, persons };
    },
    /** The ports for the questions that operators' commands ask. */
    asked: {
      platforms,
      health: sync.health,
      connections,
      checkCredential: (connection: Connection) => checkCredential(connection, { ...sync, applicants }),
    },
    ports: {
      ...sync,
      eraser: createEraser(sync.table),
      reader: createReaderStore(sync.table),
      tokens,
      notifier: createNotifier({ ...own, prefix, consoleUrl, targets }),
      deadLetterCount: async () =>
        (await depth('events', queueUrls.eventsDlq)) + (await depth('apply', queueUrls.applyDlq)),
    },
  };
}

type SentDecision = Pick<DecideInvocation, 'decision' | 'proof' | 'person'>;

/** An emulator has no STS that can identify people. With an emulator, the name in the proof is used. */
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
