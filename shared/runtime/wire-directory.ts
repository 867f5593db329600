import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { STSClient } from '@aws-sdk/client-sts';
import { Agent } from 'undici';
import { createDirectorySecrets } from '../aws/secrets.ts';
import { ENVIRONMENT, readerQueueName } from '../contract/names.ts';
import { kmsSign } from '../directory/aws/kms.ts';
import { createWebIdentity } from '../directory/aws/web-identity.ts';
import { createDirectories } from '../directory/vendors/directories.ts';
import { createEventSender } from '../queues/sqs-batch.ts';
import { createGroupIndex } from '../store/group-index.ts';
import { createGroupStore } from '../store/group-store.ts';
import { createLeases } from '../store/leases.ts';
import { sleep, systemClock, systemRandom } from './clock.ts';
import { required } from './config.ts';
import { recordable } from './recorder.ts';
import { wireBase, wireState } from './wire.ts';

/**
 * Returns the ports of the directory reader. It calls the APIs of directories and the events queue. It calls neither
 * the platform nor the apply queue.
 */
export function wireDirectory() {
  const base = wireBase();
  const { config } = base;
  const state = wireState(base);
  const queueUrl = required(config.queueUrls.events, ENVIRONMENT.eventsQueueUrl);
  const events = createEventSender(state.sqs, async () => queueUrl);
  const queue = readerQueueName(config.prefix);
  const secrets = createDirectorySecrets(new SecretsManagerClient({}), config.prefix);
  const webIdentity = createWebIdentity(new STSClient({}));
  const world = {
    dispatcher: recordable(new Agent()),
    clock: systemClock,
    random: systemRandom,
    sleep,
    webIdentity,
    kmsSign,
    publicOnly: config.isDeployed && !config.isEmulated,
  };
  return {
    ...base,
    ports: {
      clock: systemClock,
      sleep,
      deliveries: state.deliveries,
      newId: state.newId,
      connections: state.connections,
      users: state.users,
      people: state.people,
      index: createGroupIndex(state.table),
      groups: createGroupStore(state.table),
      leases: createLeases(state.table),
      reader: state.reader,
      sources: state.sources,
      everyMinutes: config.directoryMinutes,
      directories: createDirectories(secrets, world),
      events: {
        // Ingest accepts events of the directory reader only from this queue.
        send: (messages: Parameters<typeof events.send>[0]) =>
          events.send(messages.map((one) => ({ ...one, queue }))),
      },
    },
  };
}
