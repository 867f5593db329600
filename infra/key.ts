import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';
import { isEmulated, type Settings } from './settings.ts';

/**
 * Of what holds data: kept when the stack goes, but not what a first deployment made that failed, which could then not be
 * tried again under the same names. Emulators know only `Retain`.
 */
export function removalPolicy({ retainData }: Pick<Settings, 'retainData'>): RemovalPolicy {
  if (!retainData) return RemovalPolicy.DESTROY;
  return isEmulated() ? RemovalPolicy.RETAIN : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE;
}

/**
 * The key that encrypts queues, table, topic and logs: one of our own, rotated every year and kept when the stack goes
 * (without it the kept table could not be read), or the one of an earlier stack that `keyArn` names.
 */
export function encryptionKey(scope: Construct, settings: Settings): IKey {
  const { prefix, keyArn } = settings;
  if (keyArn !== undefined) return Key.fromKeyArn(scope, 'Key', keyArn);
  const key = new Key(scope, 'Key', {
    description: `groupsync ${prefix}: queues, table, alarms and logs`,
    enableKeyRotation: true,
    removalPolicy: removalPolicy(settings),
  });
  const stack = Stack.of(scope);
  const allow = (sid: string, service: string, conditions: Record<string, unknown>, ...more: string[]) =>
    key.addToResourcePolicy(
      new PolicyStatement({
        sid,
        principals: [new ServicePrincipal(service)],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey', ...more],
        resources: ['*'],
        conditions,
      }),
    );
  // Alarms publish to the encrypted topic (CloudWatch user guide, "Notifying users on alarm changes").
  allow('Alarms', 'cloudwatch.amazonaws.com', { StringEquals: { 'aws:SourceAccount': stack.account } });
  // Log groups of this stage and no others (CloudWatch Logs user guide, "Encrypt log data using AWS KMS").
  const logGroups = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: `/aws/lambda/${prefix}-*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const ofLogs = { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } };
  const rights = ['kms:Encrypt', 'kms:ReEncryptFrom', 'kms:ReEncryptTo', 'kms:DescribeKey'];
  allow('Logs', `logs.${stack.region}.amazonaws.com`, ofLogs, ...rights);
  return key;
}
