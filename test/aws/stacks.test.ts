import { expect, it } from 'vitest';
import type { Query } from '../../shared/aws/query.ts';
import { createStackClient } from '../../shared/aws/stacks.ts';

const TEMPLATE = {
  Resources: {
    Queue: { Type: 'AWS::SQS::Queue' },
    Table: { Type: 'AWS::DynamoDB::Table', DeletionPolicy: 'RetainExceptOnCreate' },
  },
};
const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  EnableTerminationProtection: ['true'],
  TemplateBody: [JSON.stringify(TEMPLATE)],
};

/** Creates a fake of CloudFormation with one stack. It adds each request to `asked`. */
function cloudFormation(asked: object[] = []): Query {
  return async (service, fields) => {
    asked.push({ service, ...fields });
    if (fields['StackName'] === 'groupsync') return (element) => ANSWERS[element] ?? [];
    const message = `Stack with id ${fields['StackName']} does not exist`;
    throw Object.assign(new Error(message), {
      name: fields['StackName'] === 'denied' ? 'AccessDenied' : 'ValidationError',
    });
  };
}

it('the stack client reads the protection, and the resources that a deletion keeps', async () => {
  expect(await createStackClient(cloudFormation()).read('groupsync')).toEqual({
    isProtected: true,
    resources: [
      { id: 'Queue', type: 'AWS::SQS::Queue', isKept: false },
      { id: 'Table', type: 'AWS::DynamoDB::Table', isKept: true },
    ],
  });
});

it('the stack client returns undefined for a stack that does not exist, and throws any other error', async () => {
  const stacks = createStackClient(cloudFormation());
  expect(await stacks.read('other')).toBeUndefined();
  await expect(stacks.read('denied')).rejects.toThrow('denied');
});

it('the stack client switches the termination protection of a stack off', async () => {
  const asked: object[] = [];
  await createStackClient(cloudFormation(asked)).unprotect('groupsync');
  expect(asked).toEqual([
    {
      service: 'cloudformation',
      Action: 'UpdateTerminationProtection',
      StackName: 'groupsync',
      EnableTerminationProtection: 'false',
    },
  ]);
});
