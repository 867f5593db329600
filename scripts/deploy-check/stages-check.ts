import { join } from 'node:path';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { MESSAGE_ATTRIBUTES, SCIM_URL_OUTPUT, STACK_OUTPUTS } from '../../shared/contract/names.ts';
import type { Cdk, StageOfStack } from './cdk.ts';
import { identityOf, queuesOf, readOutputs, tableCreatedAt } from './deployment.ts';
import {
  FIRST_GROUPS,
  firstEvents,
  LATER_GROUPS,
  laterEvents,
  SCIM_GROUPS,
  send,
  sendScim,
  untilGroups,
} from './scenario.ts';
import { scimClient } from './scim-client.ts';
import { type CheckInput, connect, expectEqual, step, TIMEOUT_MS, tableOf, whileRunning } from './steps.ts';

interface StagesCheck extends CheckInput {
  readonly cdk: Cdk;
  /** The stage that is deployed and updated. Its data stays when the stage is destroyed. */
  readonly stage: StageOfStack;
  /** The second stage. Its data is deleted when the stage is destroyed. */
  readonly second: StageOfStack;
}

/** Tests the app of a checkout: two stages are deployed in one account, updated in place and destroyed. */
export async function checkStages(on: StagesCheck): Promise<void> {
  const { cdk, clients, stage } = on;
  await step(`deploy ${stage.prefix}`, async () => {
    await cdk.synth(stage);
    await cdk.deploy(stage);
  });
  // An emulator may refuse a KMS key with tags, so the second stage uses the key of the first stage.
  const key = { keyArn: readOutputs(stage)('KeyArn') };
  const second = { ...on.second, context: { ...on.second.context, ...key } };
  await step(`deploy ${second.prefix} next to it, with a boundary, a qualifier and tags`, async () => {
    await cdk.synth(second);
    await cdk.deploy(second);
  });
  await step('connect', () => connect(on, stage));
  await step('events become groups, and one invalid message is dead-lettered', () =>
    whileRunning(on, stage, async (running) => {
      await running.functions.people.invoke({});
      await send(clients, stage, firstEvents(new Date().toISOString()));
      await untilGroups(running, on.platform, { expected: FIRST_GROUPS, timeoutMs: TIMEOUT_MS });
      await expectDeadLetter(on);
      for (const task of ['feed', 'sweep', 'health']) await running.functions.reconcile.invoke({ task });
    }),
  );
  await step('diff is clean', () => cdk.expectNoDifference(stage));

  const changed = {
    ...stage,
    out: join(on.folder, 'changed'),
    context: { coalesceSeconds: '0', logLevel: 'debug', scim: 'true' },
  };
  const before = await identityOf(clients, stage);
  await step('update in place, with SCIM switched on', async () => {
    await cdk.synth(changed);
    await cdk.deploy(changed);
    expectEqual('tables and queues after the update', await identityOf(clients, changed), before);
    await cdk.expectNoDifference(changed);
  });
  await step('events become groups after the update', () =>
    whileRunning(on, changed, async (running) => {
      await send(clients, changed, laterEvents(new Date().toISOString()));
      await untilGroups(running, on.platform, { expected: LATER_GROUPS, timeoutMs: TIMEOUT_MS });
    }),
  );
  await step('SCIM requests create one more group', () =>
    whileRunning(on, changed, async (running) => {
      if (running.scim === undefined) throw new Error('expected the update to create the function scim');
      expectEqual(
        'the path of the SCIM URL',
        new URL(readOutputs(changed)(SCIM_URL_OUTPUT)).pathname,
        '/scim/v2',
      );
      await sendScim(await scimClient(running.scim, tableOf({ clients, stage: changed })));
      await untilGroups(running, on.platform, { expected: SCIM_GROUPS, timeoutMs: TIMEOUT_MS });
    }),
  );
  await step('destroy both stages: only the first stage keeps its data', async () => {
    const createdAt = await tableCreatedAt(clients, changed);
    await cdk.destroy(changed);
    await cdk.destroy(second);
    expectEqual(
      'queues left',
      [...(await queuesOf(clients, changed)), ...(await queuesOf(clients, second))],
      [],
    );
    expectEqual('the table of the first stage', await tableCreatedAt(clients, changed), createdAt);
    expectEqual('the table of the second stage', await tableCreatedAt(clients, second), undefined);
  });
}

async function expectDeadLetter({ clients, stage }: StagesCheck): Promise<void> {
  const { Messages = [] } = await clients.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: readOutputs(stage)(STACK_OUTPUTS.eventsDlq),
      WaitTimeSeconds: 10,
      MessageAttributeNames: ['All'],
    }),
  );
  const found = Messages.map(({ Body, MessageAttributes }) => [
    Body,
    MessageAttributes?.[MESSAGE_ATTRIBUTES.errorCode]?.StringValue,
  ]);
  expectEqual('dead letters', found, [['not an event', 'invalid_json']]);
}
