import { connectionName } from '../shared/domain/ids.ts';
import type { Finding } from '../shared/domain/notice.ts';
import { surveyDeadLetters } from '../shared/operate/dead-letters/survey.ts';
import { listHolds } from '../shared/operate/holds.ts';
import { listPending } from '../shared/operate/lists.ts';
import { stateName, summaries } from '../shared/operate/report.ts';
import { createMailbox } from '../shared/queues/mailbox.ts';
import type { NoticeSubject } from '../shared/sync/ports/notices.ts';
import { findProblems } from '../shared/sync/reconcile/levels.ts';
import { notify } from '../shared/sync/reconcile/notify.ts';
import { collectPages } from '../shared/sync/tuning.ts';
import {
  checkShown,
  type SentNotification,
  type Shown,
  type Truth,
  truthOf,
  unreportedFindings,
} from './checks/shown.ts';
import type { Cloud } from './cloud.ts';
import type { Container } from './lambdas.ts';
import { queueUrl } from './queues.ts';
import { between } from './random.ts';
import { afterSilence } from './silence.ts';
import { HOUR_MS, MINUTE_MS } from './simulation-run.ts';
import type { Seen } from './world.ts';

/** The longest time for which a list may show an old value. The index may be two minutes late. */
const STABLE_MS = 130_000;
const SAMPLE_MS = 10_000;
const AT_LEAST_MS = 5 * HOUR_MS;
const AT_MOST_MS = 13 * HOUR_MS;
/** If the outcome of a notification is unknown, groupsync sends it again after 15 minutes. */
const NOTIFY_AGAIN_MS = 16 * MINUTE_MS;
/** The maximum number of attempts to send the due notifications. */
const MOST_ATTEMPTS = 8;

/**
 * Reads the data that operators see of each connection, at random times and before the end of the run. Also sends due
 * notifications. The check then compares the answers with the stored values that did not change in the meantime.
 */
export function startShowing(cloud: Cloud, seen: Seen, lastExpiryMs: number): void {
  const random = cloud.random.fork('showing');
  const notifiedByConnection = new Map<string, Map<Finding['subject'], SentNotification>>();
  // The connections are read one after the other. A command that reads a dead-letter queue hides its messages from
  // other readers for some time.
  const ask = async () => {
    for (const name of [...cloud.connections.keys()]) {
      const notified = notifiedByConnection.get(name) ?? new Map();
      notifiedByConnection.set(name, notified);
      await showOne(cloud, seen, { name, notified });
    }
  };
  const again = (atMs: number) =>
    cloud.time.at(atMs, () => {
      if (cloud.isOver) return;
      cloud.start(ask());
      again(afterSilence(cloud, atMs + between(random, AT_LEAST_MS, AT_MOST_MS)));
    });
  again(cloud.nowMs() + between(random, HOUR_MS, AT_LEAST_MS));
  cloud.time.at(lastExpiryMs - HOUR_MS, () => cloud.start(ask()));
}

interface Asked {
  readonly name: string;
  readonly notified: Map<Finding['subject'], SentNotification>;
}

async function showOne(cloud: Cloud, seen: Seen, { name, notified }: Asked): Promise<void> {
  const samples: Truth[] = [truthOf(seen, name)];
  for (let waitedMs = 0; waitedMs < STABLE_MS; waitedMs += SAMPLE_MS) {
    await cloud.time.sleep(SAMPLE_MS);
    samples.push(truthOf(seen, name));
  }
  let shown: Shown | undefined;
  const completed = await cloud.invoke('checker', 5 * MINUTE_MS, async (container) => {
    if (cloud.isOver || !cloud.connections.has(name)) return;
    shown = await shownTo(container, name, cloud.nowMs);
  });
  samples.push(truthOf(seen, name));
  if (!completed || shown === undefined) return;
  cloud.runLog.fired('shown');
  checkShown(seen, { name, samples, shown });
  await notifyAndCheck(cloud, seen, { name, notified });
}

/** Sends due notifications, and reports each finding that has none after the last attempt. */
async function notifyAndCheck(cloud: Cloud, seen: Seen, { name, notified }: Asked): Promise<void> {
  let unreported: readonly string[] = [];
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const completed = await cloud.invoke('checker', 5 * MINUTE_MS, async ({ ports }) => {
      unreported = [];
      if (cloud.isOver || !cloud.connections.has(name)) return;
      const connection = await ports.connections.current(connectionName(name));
      if (connection === undefined) return;
      const found = await findProblems(connection, ports);
      await notifyPeople(found, { ports, connection: connection.name, notified });
      unreported = unreportedFindings(found, notified);
    });
    if (!completed || cloud.isOver || unreported.length === 0) return;
    await cloud.time.sleep(NOTIFY_AGAIN_MS);
  }
  for (const sentence of unreported)
    seen.runLog.violated({ check: 'shown', cause: 'notices', connection: name, sentence });
}

async function shownTo(
  { ports, sqs }: Container,
  name: string,
  nowMs: () => number,
): Promise<Shown | undefined> {
  const found = await ports.connections.current(connectionName(name));
  if (found === undefined) return undefined;
  const connection = found.name;
  const atMs = nowMs();
  const problems = await findProblems(found, ports);
  const holds = await listHolds(connection, ports);
  const pending = await listPending(connection, ports);
  const groups = (await collectPages(summaries(connection, ports))).map((one) => ({
    group: one.ref.group as string,
    state: stateName(one),
  }));
  const mailboxes = {
    events: createMailbox(sqs, { name: 'events', queueUrl: async () => queueUrl('eventsDlq') }),
    apply: createMailbox(sqs, { name: 'apply', queueUrl: async () => queueUrl('applyDlq') }),
  };
  const survey = await surveyDeadLetters({ ...ports, mailboxes }, { queues: ['events'], limit: 1_000 });
  return {
    atMs,
    found: problems,
    holds: holds.map(({ group, hold }) => ({ group, digest: hold.digest, decision: hold.decision.kind })),
    pending: pending.map(({ group, member, cause }) => `${group} ${member} ${cause}`),
    groups,
    // If another command has received some of the messages, the list is incomplete. An incomplete list is not compared.
    deadLetters:
      survey.complete && survey.inFlightElsewhere === 0 ? survey.messages.map(({ id }) => id) : undefined,
  };
}

interface Notifying {
  readonly ports: Container['ports'];
  readonly connection: ReturnType<typeof connectionName>;
  readonly notified: Asked['notified'];
}

/** Sends the due notifications, as the requeue job does each minute. */
async function notifyPeople(
  found: readonly Finding[],
  { ports, connection, notified }: Notifying,
): Promise<void> {
  const notifier = {
    prefix: 'groupsync',
    targets: ['people'],
    send: async (_: readonly string[], about?: NoticeSubject) => {
      if (about !== undefined) notified.set(about.subject, { isOver: about.endedMs !== undefined });
      return new Map<string, string>();
    },
  };
  await notify(found, { ...ports, notifier }, connection);
}
