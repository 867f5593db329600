import { join } from 'node:path';
import { queuesOf } from './deployment.ts';
import type { Emulator } from './emulator.ts';
import { createReleaseStack, lintRelease, publishRelease } from './release-stack.ts';
import { FIRST_GROUPS, firstEvents, send, untilGroups } from './scenario.ts';
import { type CheckInput, connect, expectEqual, step, TIMEOUT_MS, whileRunning } from './steps.ts';

interface TemplateCheck extends CheckInput {
  readonly emulator: Emulator;
  readonly prefix: string;
}

/** Tests the CloudFormation template of a release, which needs only a bucket with the zip files. */
export async function checkTemplate(on: TemplateCheck): Promise<void> {
  const { prefix, folder, clients, emulator } = on;
  const bucket = `${prefix}-code`;
  await step('build the template, and copy the zip files into a bucket', () =>
    publishRelease(bucket, emulator),
  );
  await step('lint the template', async () => lintRelease());
  const stage = await step(`deploy ${prefix} from the template, without the CDK`, () =>
    createReleaseStack({ prefix, bucket, out: join(folder, 'template') }, on),
  );
  await step('events become groups', async () => {
    await connect(on, stage);
    await whileRunning(on, stage, async (running) => {
      await running.functions.people.invoke({});
      await send(clients, stage, firstEvents(new Date().toISOString()).slice(0, -1));
      await untilGroups(running, on.platform, { expected: FIRST_GROUPS, timeoutMs: TIMEOUT_MS });
    });
  });
  await step(`delete ${prefix}`, async () => {
    await emulator.cloudFormation({ Action: 'DeleteStack', StackName: prefix });
    expectEqual('queues left', await queuesOf(clients, stage), []);
  });
}
