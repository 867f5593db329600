import { join } from 'node:path';
import {
  CreateBackupCommand,
  DeleteTableCommand,
  RestoreTableFromBackupCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { DEFAULT_CONNECTION, secretName, tableName } from '../../shared/contract/names.ts';
import { createReaderStore } from '../../shared/directory/store/reader-store.ts';
import { resumeConnection } from '../../shared/operate/pausing.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
import { newId } from '../../shared/runtime/clock.ts';
import { createGateStore } from '../../shared/store/connection-states.ts';
import { createConnectionStore } from '../../shared/store/connection-store.ts';
import { createGroupStore } from '../../shared/store/group-store.ts';
import { createAuditLog } from '../../shared/store/logs.ts';
import type { StageOfStack } from './cdk.ts';
import type { Running } from './deployment.ts';
import type { Emulator } from './emulator.ts';
import { createReleaseStack, publishRelease } from './release-stack.ts';
import { EVERYONE, holdEveryone, untilGroups } from './scenario.ts';
import { TOKEN } from './simulator.ts';
import { type CheckInput, connect, expectEqual, step, TIMEOUT_MS, tableOf, whileRunning } from './steps.ts';

interface RestoreCheck extends CheckInput {
  readonly emulator: Emulator;
  readonly prefix: string;
}

const REDUCED = { Everyone: ['user-ann'] };

/**
 * The restore drill: a table with held removals and an audit chain is restored from a backup into a second stack. The
 * copy must have the same hold and an unbroken audit chain. After `resume`, an approval must remove the members.
 */
export async function checkRestore(on: RestoreCheck): Promise<void> {
  const { prefix, folder, clients, emulator } = on;
  const bucket = `${prefix}-code`;
  const copy = `${prefix}-b`;
  await step('build the template, and copy the zip files into a bucket', () =>
    publishRelease(bucket, emulator),
  );
  const stage = await step(`deploy ${prefix}`, () =>
    createReleaseStack({ prefix, bucket, out: join(folder, 'original') }, on),
  );
  const before = await step('the guard holds the removal of most members', async () => {
    await connect(on, stage);
    await whileRunning(on, stage, (running) => holdEveryone(running, on, stage));
    return factsOf(on, stage);
  });
  const restored = await step('restore a backup of the table into a second stack', async () => {
    const backup = { TableName: tableName(prefix), BackupName: `${prefix}-drill` };
    const { BackupDetails } = await clients.dynamodb.send(new CreateBackupCommand(backup));
    const second = await createReleaseStack({ prefix: copy, bucket, out: join(folder, 'copy') }, on);
    // The restored table must have the name of the stack's table, so the empty table of the stack is deleted first.
    await clients.dynamodb.send(new DeleteTableCommand({ TableName: tableName(copy) }));
    await clients.dynamodb.send(
      new RestoreTableFromBackupCommand({
        TargetTableName: tableName(copy),
        BackupArn: BackupDetails?.BackupArn,
      }),
    );
    const Name = secretName(copy, DEFAULT_CONNECTION);
    await clients.secrets.send(
      new CreateSecretCommand({ Name, SecretString: JSON.stringify({ token: TOKEN }) }),
    );
    return second;
  });
  await step('the hold and the audit chain are intact', async () => {
    expectEqual('hold and audit', await factsOf(on, restored), before);
  });
  await step('an approval in the second stack removes the members after the connection is resumed', () =>
    whileRunning(on, restored, async (running) => {
      expectEqual('the decision', await approve(running, before.digest), 'decided');
      await running.functions.reconcile.invoke({ task: 'pump' });
      const { Everyone: kept = [] } = await on.platform.groups();
      expectEqual('the number of members before the connection is resumed', kept.length, 6);
      await resume(on, restored);
      await untilGroups(running, on.platform, { expected: REDUCED, timeoutMs: TIMEOUT_MS });
      expectEqual('broken audit entries', (await factsOf(on, restored)).audit.broken, null);
    }),
  );
  for (const StackName of [prefix, copy]) await emulator.cloudFormation({ Action: 'DeleteStack', StackName });
}

/** Returns the state that must be the same after a restore. */
async function factsOf({ clients }: CheckInput, stage: StageOfStack) {
  const table = tableOf({ clients, stage });
  const [hold] = (await createGroupStore(table).read(EVERYONE))?.removals?.sets ?? [];
  const audit = await verifyAudit(EVERYONE, { audit: createAuditLog(table), clock: Date.now });
  return { digest: hold?.digest ?? '', decision: hold?.decision.kind, audit };
}

async function resume({ clients }: CheckInput, stage: StageOfStack): Promise<void> {
  const table = tableOf({ clients, stage });
  const connections = createConnectionStore(table, { clock: Date.now, rememberMs: 0 });
  expectEqual('observing', (await connections.current(DEFAULT_CONNECTION))?.observing, true);
  await resumeConnection(DEFAULT_CONNECTION, {
    connections,
    gates: createGateStore(table),
    audit: createAuditLog(table),
    reader: createReaderStore(table),
    caller: async () => ({ kind: 'operator', id: 'drill' }),
    clock: Date.now,
    newId,
  });
}

/** Approves the hold as `groupsync holds approve` does. @returns the kind of the outcome */
async function approve({ functions }: Running, digest: string): Promise<unknown> {
  const request = { reason: 'restore drill', digest };
  const decision = JSON.stringify({ about: 'hold', ...EVERYONE, isApproved: true, request });
  const answer = await functions.reconcile.invoke({ task: 'decide', decision, proof: { user: 'drill' } });
  return (answer as { outcome?: { kind: string } }).outcome?.kind ?? answer;
}
