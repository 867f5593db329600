import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { tableName } from '../contract/names.ts';
import type { Sdk } from './sdk.ts';

/**
 * Switches the deletion protection of a stage's table on or off. The template does not contain it: a protected table
 * would stay after a first deployment that fails, and the deployment could not be repeated.
 */
export async function protectTable(
  { dynamodb }: Pick<Sdk, 'dynamodb'>,
  prefix: string,
  isProtected: boolean,
): Promise<void> {
  const TableName = tableName(prefix);
  await dynamodb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: isProtected }));
}
