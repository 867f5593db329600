import * as z from 'zod';
import type { DeployedResource, StackClient } from '../sync/ports/deployment.ts';
import type { Query } from './query.ts';

const Template = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string(), DeletionPolicy: z.string().optional() })),
});

export function resourcesOf(template: string): readonly DeployedResource[] {
  const { Resources } = Template.parse(JSON.parse(template));
  return Object.entries(Resources).map(([id, { Type, DeletionPolicy = 'Delete' }]) => ({
    id,
    type: Type,
    // A resource with `RetainExceptOnCreate` is also kept when the stack is deleted.
    isKept: DeletionPolicy.startsWith('Retain'),
  }));
}

/** CloudFormation answers this error if the stack does not exist (API reference, DescribeStacks). */
const isAbsent = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message);

export function createStackClient(ask: Query): StackClient {
  return {
    async read(StackName) {
      const [described, template] = await Promise.all([
        ask('cloudformation', { Action: 'DescribeStacks', StackName }),
        ask('cloudformation', { Action: 'GetTemplate', StackName }),
      ]).catch((error: unknown) => {
        if (isAbsent(error)) return [];
        throw error;
      });
      if (described === undefined || template === undefined) return undefined;
      return {
        isProtected: described('EnableTerminationProtection')[0] === 'true',
        resources: resourcesOf(template('TemplateBody')[0] ?? ''),
      };
    },
    async unprotect(StackName) {
      const off = { EnableTerminationProtection: 'false' };
      await ask('cloudformation', { Action: 'UpdateTerminationProtection', StackName, ...off });
    },
  };
}
