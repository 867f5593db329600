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

const USE = ['kms:Decrypt', 'kms:GenerateDataKey'];

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
  const ofThisAccount = { StringEquals: { 'aws:SourceAccount': stack.account } };
  // Alarms publish to the encrypted topic (CloudWatch user guide, "Notifying users on alarm changes").
  key.addToResourcePolicy(allow('Alarms', new ServicePrincipal('cloudwatch.amazonaws.com'), ofThisAccount));
  // Log groups of this stage and no others (CloudWatch Logs user guide, "Encrypt log data using AWS KMS").
  const logGroups = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: `/aws/lambda/${prefix}-*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  key.addToResourcePolicy(
    allow('Logs', new ServicePrincipal(`logs.${stack.region}.amazonaws.com`), {
      ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups },
    }),
  );
  return key;
}

function allow(
  sid: string,
  principal: ServicePrincipal,
  conditions: Record<string, unknown>,
): PolicyStatement {
  const logs =
    sid === 'Logs' ? ['kms:Encrypt', 'kms:ReEncryptFrom', 'kms:ReEncryptTo', 'kms:DescribeKey'] : [];
  return new PolicyStatement({
    sid,
    principals: [principal],
    actions: [...USE, ...logs],
    resources: ['*'],
    conditions,
  });
}
