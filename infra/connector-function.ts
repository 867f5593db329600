import { Duration, RemovalPolicy, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  RecursiveLoop,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { functionName } from '../shared/contract/names.ts';
import type { DeployableKey } from './function-code.ts';
import type { Settings } from './settings.ts';

export interface ConnectorFunctionProps {
  readonly settings: Settings;
  readonly name: DeployableKey | 'audit';
  readonly description: string;
  /** The folder with the bundled handler, or inline code. */
  readonly code: string | Code;
  readonly memoryMiB: number;
  readonly timeoutSeconds: number;
  readonly key: IKey;
  /** The number of executions that are reserved for this function, which is also its maximum. */
  readonly reservedConcurrency?: number | undefined;
}

/**
 * One function with its role and its log group. The role starts with logging and
 * tracing only. The stack adds the permissions in `permissions.ts`.
 *
 * Concurrency is reserved only if the settings require it, because a new AWS account has 10 executions and cannot
 * reserve any of them. Other mechanisms limit concurrency: the maximum concurrency of event sources, the throttle of
 * the HTTP API, and the leases of scheduled runs.
 */
export class ConnectorFunction extends Construct {
  readonly name: DeployableKey | 'audit';
  readonly function: LambdaFunction;
  readonly role: Role;

  constructor(scope: Construct, id: string, props: ConnectorFunctionProps) {
    super(scope, id);
    const { settings, name, timeoutSeconds, reservedConcurrency } = props;
    this.name = name;
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: `/aws/lambda/${functionName(settings.prefix, name)}`,
      retention: settings.logRetentionDays,
      encryptionKey: props.key,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.role.addToPolicy(
      new PolicyStatement({
        sid: 'WriteLogs',
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [logGroup.logGroupArn],
      }),
    );
    this.function = new LambdaFunction(this, 'Function', {
      functionName: functionName(settings.prefix, name),
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: typeof props.code === 'string' ? Code.fromAsset(props.code) : props.code,
      handler: 'index.handler',
      memorySize: props.memoryMiB,
      timeout: Duration.seconds(timeoutSeconds),
      role: this.role,
      logGroup,
      tracing: Tracing.ACTIVE,
      // Lambda stops a function that causes its own calls 16 times in a row (Lambda developer guide, "Recursive loop
      // detection"). Apply causes its own calls: it wakes a group for a retry and for changes during a write.
      recursiveLoop: name === 'apply' ? RecursiveLoop.ALLOW : RecursiveLoop.TERMINATE,
      ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
    });
    Validations.of(this.role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'xray:PutTraceSegments and xray:PutTelemetryRecords have no resource level (service authorization reference).',
    });
  }
}
