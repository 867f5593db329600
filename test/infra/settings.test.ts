import { describe, expect, it } from 'vitest';
import cdkJson from '../../cdk.json' with { type: 'json' };
import { readSettings, SettingsError } from '../../infra/settings.ts';

const read = (context: Record<string, unknown>) => readSettings((name) => context[name]);

describe('readSettings', () => {
  it('has a default for everything', () => {
    expect(read({})).toEqual({
      stage: 'production',
      prefix: 'groupsync',
      coalesceSeconds: 5,
      pumpMinutes: 1,
      feedMinutes: 5,
      sweepMinutes: 60,
      peopleMinutes: 60,
      producers: [],
      scim: false,
      scimRequestsPerSecond: 100,
      scimBurst: 200,
      logRetentionDays: 30,
      logLevel: 'info',
      retainData: true,
      runbookUrl: 'docs/runbook.md',
    });
  });

  it('reads each stage of the cdk.json that is delivered, with prefixes of their own', () => {
    const stages = Object.keys(cdkJson.context.stages);
    const prefixes = stages.map((stage) => read({ ...cdkJson.context, stage }).prefix);
    expect(stages).toEqual(['production', 'staging']);
    expect(new Set(prefixes).size).toBe(stages.length);
  });

  it('takes the stage by name, and single settings before those of the stage', () => {
    const stages = { production: {}, test: { prefix: 'gs-test', coalesceSeconds: 0, sweepMinutes: 30 } };
    expect(read({ stages, stage: 'test', coalesceSeconds: '20' })).toMatchObject({
      stage: 'test',
      prefix: 'gs-test',
      coalesceSeconds: 20,
      sweepMinutes: 30,
    });
  });

  it('reads text from the command line as it reads JSON', () => {
    const producers = ['arn:aws:iam::111122223333:role/a', 'arn:aws:iam::111122223333:user/b/c'];
    expect(read({ producers: producers.join(', '), retainData: 'false', logRetentionDays: '90' })).toEqual(
      read({ producers, retainData: false, logRetentionDays: 90 }),
    );
  });

  it.each([
    [
      'a stage that is not in cdk.json',
      { stages: { a: {} }, stage: 'b' },
      'stage "b": not in cdk.json, which has a',
    ],
    ['an unknown setting', { stages: { production: { prefx: 'a' } } }, 'prefx'],
    ['a prefix with capitals', { prefix: 'GroupSync' }, 'prefix: expected 1 to 32 of a-z, 0-9 and -'],
    ['a prefix too long', { prefix: 'a'.repeat(33) }, 'prefix: expected 1 to 32'],
    ['a window that is no number', { coalesceSeconds: '5s' }, 'coalesceSeconds'],
    ['a window beyond deduplication', { coalesceSeconds: 301 }, 'coalesceSeconds'],
    ['a schedule of zero minutes', { pumpMinutes: 0 }, 'pumpMinutes'],
    [
      'an account as a producer',
      { producers: 'arn:aws:iam::111122223333:root' },
      'producers.0: expected the ARN of one',
    ],
    ['a wildcard as a producer', { producers: '*' }, 'producers.0: expected the ARN of one'],
    ['an e-mail address that is none', { alarmEmail: 'ops' }, 'alarmEmail'],
    ['a retention that CloudWatch lacks', { logRetentionDays: 31 }, 'logRetentionDays: expected one of 1, 3'],
    [
      'an event source of another partner',
      { oktaEventSource: 'acme' },
      'oktaEventSource: expected aws.partner/okta',
    ],
    ['a SCIM switch that is neither', { scim: 'yes' }, 'scim'],
    ['a throttle below what one provider sends', { scimRequestsPerSecond: 24 }, 'scimRequestsPerSecond'],
    ['a burst beyond the quota of an account', { scimBurst: '5001' }, 'scimBurst'],
    ['a region that is none', { region: 'Frankfurt' }, 'region: expected a region such as'],
  ])('refuses %s and says what it expected', (_title, context, message) => {
    expect(() => read(context)).toThrow(SettingsError);
    expect(() => read(context)).toThrow(message);
  });
});
