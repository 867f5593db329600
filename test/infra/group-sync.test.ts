import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { expect, it } from 'vitest';
import { app as example } from '../../examples/cdk-app/app.ts';
import { GroupSync, type GroupSyncProps } from '../../infra/group-sync.ts';
import { code, listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const inApp = (props: Omit<GroupSyncProps, 'code'> = {}, app = new App()) =>
  new GroupSync(app, 'Connector', { code, env: { region: 'eu-west-1' }, ...props });

const eventsPolicy = (template: Template): Statement[] =>
  Object.entries(resourcesOf(template, 'AWS::SQS::QueuePolicy')).find(([id]) =>
    id.startsWith('IngestLaneQueuePolicy'),
  )?.[1].Properties.PolicyDocument.Statement;

it('GroupSync without props has the outputs of the stack that groupsync deploy creates with the default settings', () => {
  const stack = inApp();
  expect(stack.stackName).toBe('groupsync');
  // Only outputs are compared: the CDK app has no feature flags, and they change details such as names of policies.
  expect(Object.keys(Template.fromStack(stack).toJSON()['Outputs']).sort()).toEqual(
    Object.keys(synthesise().template.toJSON()['Outputs']).sort(),
  );
});

it('the example CDK app deploys groupsync and a stack whose role is the only sender of events', () => {
  const stacks = example.synth().stacks.map(({ stackName }) => stackName);
  expect(stacks.sort()).toEqual(['directory', 'groupsync']);
  const connector = example.node.findChild('groupsync') as GroupSync;
  const admitted = eventsPolicy(Template.fromStack(connector)).filter(({ Sid }) => Sid === 'NamedProducers');
  expect(JSON.stringify(admitted)).toContain('directory:');
});

it('grantPublish admits a role of another stack and refuses all principals that were not granted', () => {
  const app = new App();
  const others = new Stack(app, 'Others', { env: { region: 'eu-west-1' } });
  const [first, second] = ['First', 'Second'].map(
    (id) => new Role(others, id, { assumedBy: new ServicePrincipal('lambda.amazonaws.com') }),
  ) as [Role, Role];
  const connector = inApp({ producers: ['arn:aws:iam::111122223333:role/directory'] }, app);
  connector.grantPublish(first);
  connector.grantPublish(second);
  const template = Template.fromStack(connector);
  const statements = eventsPolicy(template);
  const admitted = statements.find(({ Sid }) => Sid === 'NamedProducers');
  expect(admitted?.Principal).toMatchObject({ AWS: { length: 3 } });
  const denied = statements.find(({ Sid }) => Sid === 'DenyOtherSenders');
  expect(denied?.Condition?.['ArnNotEquals']?.['aws:PrincipalArn']).toHaveLength(3);
  const [key] = Object.values(resourcesOf(template, 'AWS::KMS::Key'));
  const users = ((key?.Properties.KeyPolicy.Statement ?? []) as Statement[]).filter(({ Condition }) =>
    JSON.stringify(Condition ?? {}).includes('kms:ViaService'),
  );
  expect(users.flatMap(({ Principal }) => listed((Principal as { AWS: unknown }).AWS))).toHaveLength(3);
});
