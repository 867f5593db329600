import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import type { Dispatcher } from 'undici';
import type { GroupRef } from '../../shared/domain/ids.ts';
import type { Sent } from '../../simulate/platform/request.ts';
import type { BenchEvent } from './directory.ts';
import { type FunctionName, limitsOfFunctions } from './functions.ts';
import type { Rig } from './rig.ts';
import type { Counts } from './totals.ts';

export interface ChildTask {
  readonly task: 'sweep' | 'feed' | 'pump' | 'people' | 'ingest' | 'apply';
  readonly nowMs: number;
  readonly events?: readonly BenchEvent[];
  readonly refs?: readonly GroupRef[];
}

export interface ChildResult {
  readonly ms: number;
  /** Peak memory of the whole process, including modules. */
  readonly peakMb: number;
  readonly processorSeconds: number;
}

export type ChildRequest = readonly [id: number, what: string, args: readonly never[]];

const CHILD = fileURLToPath(new URL('child-process.ts', import.meta.url));

/** Returns the function that runs this task, and the memory of the function in the template. */
export function functionOf(task: ChildTask['task']) {
  const isOwn = task === 'ingest' || task === 'apply' || task === 'people';
  const name: FunctionName = isOwn ? task : 'reconcile';
  return { name, memoryMb: limitsOfFunctions()[name].memoryGb * 1_024 };
}

interface Child {
  readonly file: string;
  readonly memoryMb: number;
  readonly title: string;
  readonly answers: Readonly<Record<string, (...args: readonly never[]) => unknown>>;
}

/** Runs one task in a child process with a memory limit. `answers` handles the requests of the child. */
export function askChild<Result>({ file, memoryMb, title, answers }: Child, task: object): Promise<Result> {
  const flags = [
    '--no-warnings',
    `--max-old-space-size=${Math.floor(0.9 * memoryMb)}`,
    `--max-semi-space-size=${Math.floor(0.05 * memoryMb)}`,
  ];
  const child = fork(file, { serialization: 'advanced', execArgv: [...flags, '--import', 'tsx'] });
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`${title} ended with ${code} in ${memoryMb} MB`)));
    child.on('message', async ([id, what, args]: ChildRequest) => {
      if (what === 'done') resolve(args[0] as unknown as Result);
      else child.send([id, await answers[what]?.(...args)]);
    });
    child.send(task);
  });
}

/** Reads an answer completely, because a stream cannot be sent to a child process. */
async function wholeAnswer({ statusCode, headers, body }: Dispatcher.ResponseData) {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return { statusCode, headers, body: Buffer.concat(parts) };
}

/** Runs one invocation in a process with the function's memory limit. */
export async function runInChild(
  rig: Pick<Rig, 'requests' | 'platform' | 'sqs' | 'totals'>,
  childTask: ChildTask,
): Promise<ChildResult & { readonly counts: Counts }> {
  const { task } = childTask;
  const answers = {
    ...rig.requests,
    request: async (sent: Sent) => wholeAnswer(await rig.platform.dispatcher.request(sent as never)),
    send: (name: string, input: object) =>
      rig.sqs.send({ constructor: { name }, input } as unknown as SendMessageBatchCommand),
  };
  rig.totals.take();
  const child = { file: CHILD, memoryMb: functionOf(task).memoryMb, title: task, answers };
  const result = await askChild<ChildResult>(child, childTask);
  return { ...result, counts: rig.totals.take() };
}
