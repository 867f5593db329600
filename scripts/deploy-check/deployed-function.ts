import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GetFunctionConfigurationCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import type { Environment, StageOfStack } from './cdk.ts';

const WORKER = fileURLToPath(new URL('function-process.mjs', import.meta.url));

const Answer = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ id: z.string(), ok: z.literal(true), result: z.unknown() }),
  z.object({ id: z.string(), ok: z.literal(false), error: z.string() }),
]);

const Template = z.object({ Resources: z.record(z.string(), z.object({ Type: z.string() }).loose()) });
const FunctionResource = z.object({
  Type: z.literal('AWS::Lambda::Function'),
  Properties: z.object({ FunctionName: z.string(), Code: z.object({ S3Key: z.string() }) }),
});

/** A deployed function with its own bundle, environment, timeout and process. */
export interface DeployedFunction {
  readonly name: string;
  /** @throws if the function fails or times out */
  invoke(event: unknown): Promise<unknown>;
  stop(): void;
}

/** Returns the folder whose zip was uploaded as this function's code. */
function assetOf(stage: StageOfStack, functionName: string): string {
  const file = join(stage.out, `${stage.prefix}.template.json`);
  const { Resources } = Template.parse(JSON.parse(readFileSync(file, 'utf8')));
  const key = Object.values(Resources)
    .flatMap((resource) => FunctionResource.safeParse(resource).data ?? [])
    .find(({ Properties }) => Properties.FunctionName === functionName)?.Properties.Code.S3Key;
  if (key === undefined) throw new Error(`expected the function ${functionName} with its code in ${file}`);
  return join(stage.out, `asset.${key.replace(/\.zip$/, '')}`);
}

export async function startDeployedFunction(
  lambda: LambdaClient,
  functionName: string,
  options: { stage: StageOfStack; env: Environment; logFile: string },
): Promise<DeployedFunction> {
  const deployed = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName: functionName }));
  const [module = 'index'] = (deployed.Handler ?? '').split('.');
  return startFunction({
    name: functionName,
    file: join(assetOf(options.stage, functionName), `${module}.mjs`),
    environment: { ...options.env, ...deployed.Environment?.Variables },
    timeoutMs: (deployed.Timeout ?? 3) * 1000,
    logFile: options.logFile,
  });
}

/** Runs one bundle in its own process, as Lambda would. */
export async function startFunction(options: {
  name: string;
  file: string;
  environment: Environment;
  timeoutMs: number;
  logFile: string;
}): Promise<DeployedFunction> {
  const { name, file, environment, timeoutMs, logFile } = options;
  const child = fork(WORKER, [file], {
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...environment, AWS_LAMBDA_FUNCTION_NAME: name },
  });
  const log = createWriteStream(logFile, { flags: 'a' });
  child.stdout?.pipe(log, { end: false });
  child.stderr?.pipe(log, { end: false });
  await untilReady(child, name, logFile);
  return {
    name,
    invoke: (event) => ask(child, { event, timeoutMs, functionName: name }),
    stop: () => void child.kill(),
  };
}

function untilReady(child: ChildProcess, name: string, logFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('message', () => resolve());
    child.once('exit', (code) =>
      reject(new Error(`${name} ended with ${code} while loading, see ${logFile}`)),
    );
  });
}

function ask(
  child: ChildProcess,
  { event, timeoutMs, functionName }: { event: unknown; timeoutMs: number; functionName: string },
): Promise<unknown> {
  const id = randomUUID();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(new Error(`${functionName} timed out`))), timeoutMs);
    const onMessage = (message: unknown) => {
      const answer = Answer.parse(message);
      if (!('id' in answer) || answer.id !== id) return;
      settle(() =>
        answer.ok ? resolve(answer.result) : reject(new Error(`${functionName}: ${answer.error}`)),
      );
    };
    const settle = (end: () => void) => {
      clearTimeout(timer);
      child.off('message', onMessage);
      end();
    };
    child.on('message', onMessage);
    child.send({ id, event, timeoutMs });
  });
}
