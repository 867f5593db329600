import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../shared/contract/version.ts';
import { ROOT } from './cdk.ts';
import { queuesOf } from './deployment.ts';
import { downloadStage } from './downloaded-stage.ts';
import type { Emulator } from './emulator.ts';
import { FIRST_GROUPS, firstEvents, send, untilGroups } from './scenario.ts';
import { type Around, connect, expectEqual, step, TIMEOUT_MS, whileRunning } from './steps.ts';

interface TemplateCheck extends Around {
  readonly emulator: Emulator;
  readonly prefix: string;
}

/** Tests the CloudFormation template of a release: it needs no CDK and no bootstrap, only a bucket with the zip files. */
export async function checkTemplate(on: TemplateCheck): Promise<void> {
  const { prefix, folder, clients, emulator } = on;
  const bucket = `${prefix}-code`;
  await step('build the template, and copy the zip files into a bucket', async () => {
    execFileSync('npm', ['run', '--silent', 'template'], {
      cwd: ROOT,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await emulator.createBucket(bucket);
    for (const file of readdirSync(join(ROOT, 'release')))
      if (file.startsWith(`groupsync-${VERSION}`))
        await emulator.put(bucket, file, readFileSync(join(ROOT, 'release', file)));
  });
  await step(`deploy ${prefix} from the template, without the CDK`, () =>
    emulator.cloudFormation({
      Action: 'CreateStack',
      StackName: prefix,
      TemplateURL: emulator.urlOf(bucket, `groupsync-${VERSION}.template.json`),
      'Capabilities.member.1': 'CAPABILITY_NAMED_IAM',
      ...parameters({ CodeBucket: bucket, Prefix: prefix }),
    }),
  );
  await step('events become groups', async () => {
    const stage = await downloadStage(
      { prefix, bucket, out: join(folder, 'template') },
      { clients, emulator },
    );
    await connect(on, stage);
    await whileRunning(on, stage, async (running) => {
      await running.functions.people.invoke({});
      await send(clients, stage, firstEvents(new Date().toISOString()).slice(0, -1));
      await untilGroups(running, on.platform, { expected: FIRST_GROUPS, timeoutMs: TIMEOUT_MS });
    });
    await emulator.cloudFormation({ Action: 'DeleteStack', StackName: prefix });
    expectEqual('queues left', await queuesOf(clients, stage), []);
  });
}

const parameters = (given: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value], at) => [
      [`Parameters.member.${at + 1}.ParameterKey`, name],
      [`Parameters.member.${at + 1}.ParameterValue`, value],
    ]),
  );
