import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GetFunctionCommand } from '@aws-sdk/client-lambda';
import { FUNCTION_KEYS, functionName } from '../../shared/contract/names.ts';
import type { StageOfStack } from './cdk.ts';
import type { Clients } from './deployment.ts';
import { type Emulator, valuesOf } from './emulator.ts';
import { filesOf } from './unzip.ts';

interface Deployed {
  readonly prefix: string;
  /** The bucket from which the functions were deployed. */
  readonly bucket: string;
  /** An empty folder. */
  readonly out: string;
}

/**
 * Downloads the outputs and the code of a deployed stack into a folder, in the form of the CDK's output. The check then
 * runs the deployed code instead of the code on this machine.
 */
export async function downloadStage(
  { prefix, bucket, out }: Deployed,
  { clients, emulator }: { readonly clients: Clients; readonly emulator: Emulator },
): Promise<StageOfStack> {
  mkdirSync(out, { recursive: true });
  const resources: Record<string, unknown> = {};
  for (const name of FUNCTION_KEYS.map((key) => functionName(prefix, key))) {
    const { Code } = await clients.lambda.send(new GetFunctionCommand({ FunctionName: name }));
    const S3Key = new URL(Code?.Location ?? '').pathname.slice(1);
    resources[name] = { Type: 'AWS::Lambda::Function', Properties: { FunctionName: name, Code: { S3Key } } };
    for (const [path, content] of filesOf(await emulator.get(bucket, S3Key)))
      write(join(out, `asset.${S3Key.replace(/\.zip$/, '')}`, path), content);
  }
  write(join(out, `${prefix}.template.json`), JSON.stringify({ Resources: resources }));
  write(join(out, 'outputs.json'), JSON.stringify({ [prefix]: await outputsOf(prefix, emulator) }));
  return { prefix, out, context: {} };
}

export async function outputsOf(stack: string, emulator: Emulator): Promise<Record<string, string>> {
  const described = await emulator.cloudFormation({ Action: 'DescribeStacks', StackName: stack });
  const values = valuesOf(described, 'OutputValue');
  return Object.fromEntries(valuesOf(described, 'OutputKey').map((key, at) => [key, values[at] ?? '']));
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
