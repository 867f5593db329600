import { join } from 'node:path';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { DEFAULT_CONNECTION, secretName, tableName } from '../../shared/contract/names.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { createDynamoTable } from '../../shared/store/dynamo-table.ts';
import type { Environment, StageOfStack } from './cdk.ts';
import { type Clients, type Running, run } from './deployment.ts';
import { COMPANY, type Platform, TOKEN } from './simulator.ts';

/** The input that every part of the deployment check uses. */
export interface CheckInput {
  readonly clients: Clients;
  readonly env: Environment;
  readonly folder: string;
  readonly platform: Platform;
}

export const TIMEOUT_MS = 120_000;

/** Stores a credential and a connection, as `groupsync connect` does. */
export async function connect({ clients, platform }: CheckInput, stage: StageOfStack): Promise<void> {
  await clients.secrets.send(
    new CreateSecretCommand({
      Name: secretName(stage.prefix, DEFAULT_CONNECTION),
      SecretString: JSON.stringify({ token: TOKEN }),
    }),
  );
  await createConnectionStore(tableOf({ clients, stage }), { clock: Date.now, rememberMs: 0 }).save({
    name: DEFAULT_CONNECTION,
    company: COMPANY,
    settings: parseSettings({ baseUrl: platform.baseUrl }),
    observing: false,
  });
}

export function tableOf({ clients, stage }: { readonly clients: Clients; readonly stage: StageOfStack }) {
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  return createDynamoTable(clients.dynamodb, { tableName: tableName(stage.prefix), sleep });
}

/** Starts the deployed functions, calls `work`, and stops the functions. */
export async function whileRunning(
  { clients, env, folder }: CheckInput,
  stage: StageOfStack,
  work: (running: Running) => Promise<void>,
): Promise<void> {
  const running = await run(clients, stage, { env, logFile: join(folder, 'functions.log') });
  try {
    await work(running);
  } finally {
    await running.stop();
  }
}

export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (is !== should) throw new Error(`${what}: expected ${should}, found ${is}`);
}

export function expectContains(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`expected "${part}" in:\n${text}`);
}

export async function step<Result>(title: string, work: () => Promise<Result>): Promise<Result> {
  const startedAt = Date.now();
  const result = await work();
  console.log(`ok ${seconds(startedAt).padStart(7)}  ${title}`);
  return result;
}

export const seconds = (since: number) => `${((Date.now() - since) / 1000).toFixed(1)} s`;
