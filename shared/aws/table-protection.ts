import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { tableName } from '../contract/names.ts';
import type { Sdk } from './sdk.ts';

/**
 * Switches the deletion protection of a stage's table on or off. The template does not set the protection: if a first
 * deployment failed, CloudFormation could not delete a protected table, and the next deployment would fail too.
 */
export async function protectTable(
  { dynamodb }: Pick<Sdk, 'dynamodb'>,
  prefix: string,
  isProtected: boolean,
): Promise<void> {
  const TableName = tableName(prefix);
  await dynamodb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: isProtected }));
}
