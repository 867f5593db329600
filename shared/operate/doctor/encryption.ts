import type { Check } from '../../contract/answers/connect.ts';
import { tableName } from '../../contract/names.ts';
import type { Deployment, TableFacts } from '../../sync/ports/deployment.ts';
import { type Checked, check, fault } from './check.ts';

/** `arn:aws:kms:<region>:<account>:key/<id>` and `<id>` name the same key. */
const idOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

/** Checks that table and queues use one key. A table that was restored from a backup may have a different key. */
export async function checkEncryption({
  prefix,
  deployment,
}: {
  readonly prefix: string;
  readonly deployment: Deployment;
}): Promise<Checked> {
  const [table, queue] = await Promise.all([deployment.table(), deployment.queue('events')]);
  if (table?.encryption === undefined || queue?.key === undefined) return [];
  const give = `aws dynamodb update-table --table-name ${tableName(prefix)} --sse-specification Enabled=true,SSEType=KMS,KMSMasterKeyId=${queue.key}`;
  return keyOfTable(table.encryption, { expected: queue.key, give });
}

/** @param give the command that gives the table the expected key */
function keyOfTable(
  { keyArn, isKeyLost }: NonNullable<TableFacts['encryption']>,
  { expected, give }: { readonly expected: string; readonly give: string },
): Check {
  if (isKeyLost)
    return fault(
      'table key',
      `DynamoDB cannot use the key of the table, ${keyArn}`,
      'enable the key, or cancel its deletion, within 7 days: afterwards DynamoDB archives the table',
    );
  if (keyArn === undefined)
    return fault(
      'table key',
      'the table is encrypted with a key of AWS; a restored table has the key that the restore command named',
      give,
    );
  return check('table key', idOf(keyArn) === idOf(expected), {
    detail: `the table uses ${keyArn}, and the queues use ${expected}`,
    fix: `the permissions of groupsync are for the key of the queues. Give the table the key of the queues:\n${give}`,
  });
}
