import { join } from 'node:path';
import {
  CreateBackupCommand,
  DeleteTableCommand,
  RestoreTableFromBackupCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateSecretCommand } from '@aws-sdk/client-secrets-manager';
import { DEFAULT_CONNECTION, secretName, tableName } from '../../shared/contract/names.ts';
import { verifyAudit } from '../../shared/operate/verify-audit.ts';
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
 * copy must have the same hold and an unbroken audit chain, and an approval in the copy must remove the members.
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
  await step('an approval in the second stack removes the members', () =>
    whileRunning(on, restored, async (running) => {
      expectEqual('the decision', await approve(running, before.digest), 'decided');
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

/** Approves the hold as `groupsync holds approve` does. @returns the kind of the outcome */
async function approve({ functions }: Running, digest: string): Promise<unknown> {
  const request = { reason: 'restore drill', digest };
  const decision = JSON.stringify({ about: 'hold', ...EVERYONE, isApproved: true, request });
  const answer = await functions.reconcile.invoke({ task: 'decide', decision, proof: { user: 'drill' } });
  return (answer as { outcome?: { kind: string } }).outcome?.kind ?? answer;
}
