import { describe, expect, it } from 'vitest';
import { ENVIRONMENT } from '../../shared/contract/names.ts';
import { type CfnResource, everyResourceOf, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const off = synthesise().template;
const on = synthesise({ directory: true }).template;

const named = (type: string, property: string, name: string) =>
  Object.values(resourcesOf(on, type)).find(({ Properties }) => Properties[property] === name)?.Properties;

describe('stage that reads no directory', () => {
  it('the stage has no function, schedule or role for directories', () => {
    // An operator may ask for the function where it is not deployed too.
    const isPolicy = ({ Type }: CfnResource) => Type === 'AWS::IAM::ManagedPolicy';
    const others = Object.values(everyResourceOf(off)).filter((one) => !isPolicy(one));
    expect(JSON.stringify(others)).not.toContain('groupsync-directory');
  });
});

describe('stage that reads directories', () => {
  it('reads them every five minutes, for at most fifteen minutes', () => {
    const schedule = named('AWS::Scheduler::Schedule', 'Name', 'groupsync-directory');
    expect(schedule).toMatchObject({ ScheduleExpression: 'rate(5 minutes)', Target: { Input: '{}' } });
    const reader = named('AWS::Lambda::Function', 'FunctionName', 'groupsync-directory');
    expect(reader).toMatchObject({ Timeout: 900, MemorySize: 1024 });
    expect(Object.keys(reader.Environment.Variables)).toContain(ENVIRONMENT.eventsQueueUrl);
  });

  it('the directory function may send to a queue with named producers', () => {
    const producer = 'arn:aws:iam::111122223333:role/hr';
    const { template } = synthesise({ directory: true, producers: [producer] });
    const policies = Object.values(resourcesOf(template, 'AWS::SQS::QueuePolicy'));
    const denials = policies
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as Statement[])
      .filter(({ Effect, Condition }) => Effect === 'Deny' && JSON.stringify(Condition).includes(producer));
    expect(denials).toHaveLength(1);
    expect(JSON.stringify(denials)).toContain('DirectoryWorkerRole');
  });

  it('the time between two runs comes from the settings', () => {
    const { template } = synthesise({ directory: true, directoryMinutes: 15 });
    expect(JSON.stringify(resourcesOf(template, 'AWS::Scheduler::Schedule'))).toContain('rate(15 minutes)');
  });
});
