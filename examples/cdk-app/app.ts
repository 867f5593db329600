import { App, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { GroupSync } from 'groupsync/infra';

export const app = new App();
const env = {
  account: process.env['CDK_DEFAULT_ACCOUNT'] ?? '111122223333',
  region: process.env['CDK_DEFAULT_REGION'] ?? 'eu-west-1',
};

/** The program that sends the events of the directory. */
const directory = new Stack(app, 'directory', { env });
const exporter = new Role(directory, 'Exporter', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });

const groupsync = new GroupSync(app, 'groupsync', { env, coalesceSeconds: 10, logRetentionDays: 90 });
groupsync.grantPublish(exporter);
groupsync.alarmTopic.addSubscription(new EmailSubscription('ops@example.com'));
