import { type DirectoryRunReport, LeaseEndedError } from '../../shared/directory/reading/context.ts';
import { readDirectory } from '../../shared/directory/reading/run.ts';
import { createDirectories } from '../../shared/directory/vendors/directories.ts';
import type { DirectorySecrets } from '../../shared/sync/ports/secrets.ts';
import { queueUrl } from '../../simulate/queues.ts';
import { seededRandom } from '../../simulate/random.ts';
import { type Ask, connectToParent, type ParentAnswer, sqsThrough, tableThrough } from './parent.ts';
import { benchPorts } from './ports.ts';
import { CONNECTION, TOKEN } from './rig.ts';
import { createVirtualClock } from './virtual-clock.ts';

export interface ReaderTask {
  readonly task: 'read';
  readonly nowMs: number;
  /** The stored secret of the connection. */
  readonly secret: unknown;
  readonly isFull: boolean;
  /** The time after which the run does not start to read another group. */
  readonly seconds: number;
  readonly apiCallSeconds: number;
  readonly requestSeconds: number;
}

export interface ReaderResult {
  readonly report: DirectoryRunReport;
  readonly peakMb: number;
  /** Simulated time of the run. */
  readonly seconds: number;
  readonly processorSeconds: number;
}

const { ask, receive, done, peakMb } = connectToParent();

function portsOf({ nowMs, secret, apiCallSeconds, requestSeconds }: ReaderTask) {
  const clock = createVirtualClock(nowMs);
  const awsAsk: Ask = (what, ...args) => clock.request(requestSeconds, () => ask(what, ...args));
  const random = seededRandom(nowMs);
  const world = {
    dispatcher: {
      request: ({ method, path, body, headers }: Record<string, unknown>) =>
        clock.request(apiCallSeconds, async () => {
          const sent = { method, path, body, headers, nowMs: clock.nowMs() };
          const answer = await ask<{ readonly body: Buffer }>('directory', sent);
          return { ...answer, body: [answer.body] };
        }),
    } as never,
    clock: clock.nowMs,
    random: random.next,
    sleep: clock.sleep,
    webIdentity: async () => {
      throw new Error('this reader signs in with a stored secret');
    },
  };
  const secrets: DirectorySecrets = { read: async () => secret };
  let ids = 0;
  const ports = benchPorts({
    table: tableThrough(awsAsk),
    sqs: sqsThrough(awsAsk) as never,
    queueUrl,
    dispatcher: {} as never,
    token: TOKEN,
    coalesceMs: 5_000,
    clock: clock.nowMs,
    newId: () => {
      ids += 1;
      return `${nowMs.toString(16).padStart(12, '0')}${String(ids).padStart(20, '0')}`;
    },
    onSecretRead() {},
  });
  return { ...ports, random: random.next, directories: createDirectories(secrets, world) };
}

async function run(task: ReaderTask): Promise<ReaderResult> {
  const ports = portsOf(task);
  const connection = await ports.connections.find(CONNECTION);
  if (connection === undefined) throw new Error('expected a connection');
  const deadlineMs = task.nowMs + 1_000 * task.seconds;
  const before = process.cpuUsage();
  const report = await readDirectory(connection, ports, { deadlineMs, isFull: task.isFull });
  if (report === undefined) throw new LeaseEndedError();
  const { user, system } = process.cpuUsage(before);
  return {
    report,
    peakMb: peakMb(),
    seconds: (ports.clock() - task.nowMs) / 1_000,
    processorSeconds: (user + system) / 1e6,
  };
}

process.on('message', (message: ReaderTask | ParentAnswer) => {
  if ('task' in message) void run(message).then(done);
  else receive(message);
});
