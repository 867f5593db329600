import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, it } from 'vitest';
import { SIGN_IN } from './sign-in.ts';
import { synthesise } from './synthesised.ts';

const SOURCES = {
  producers: 'arn:aws:iam::111122223333:role/directory',
  oktaEventSource: 'aws.partner/okta.com/acme/stream',
  snsTopicArn: 'arn:aws:sns:eu-west-1:111122223333:directory',
};

it.each([
  ['with the default settings', {}],
  ['with every source of events', SOURCES],
  ['with SCIM', { scim: true }],
  ['with the console', { console: SIGN_IN, producers: SOURCES.producers }],
  ['that reads a directory', { directory: true }],
  ['with an audit export', { auditExportDays: 400 }],
  ['with all notification targets', { notify: 'alarms,webhook' }],
  ['with retainData false', { retainData: false }],
  [
    'with the key of an earlier stack',
    { keyArn: 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555' },
  ],
])('cdk-nag reports only findings that have an explanation, for a stage %s', (_title, settings) => {
  const { app } = synthesise(settings);
  expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([]);
});
