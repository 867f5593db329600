import { expect, it } from 'vitest';
import { changesOf, decode, native, problemsOf } from '../decoding.ts';

const deleted = native('group.deleted', { group: { id: '00g1' } });
const change = { kind: 'group.deleted', group: '00g1' };

/** Returns an SNS notification as SQS delivers it from a subscription without raw delivery. */
const sns = (message: unknown, more: object = {}) => ({
  Type: 'Notification',
  MessageId: '3c1f7f0e-6f0a-5d55-8a57-2b0ef0a8b111',
  TopicArn: 'arn:aws:sns:eu-central-1:111122223333:directory',
  Subject: 'directory change',
  Message: typeof message === 'string' ? message : JSON.stringify(message),
  Timestamp: '2026-11-20T11:00:00.250Z',
  SignatureVersion: '1',
  Signature: 'c2lnbmF0dXJl',
  SigningCertURL: 'https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-0.pem',
  UnsubscribeURL: 'https://sns.eu-central-1.amazonaws.com/?Action=Unsubscribe',
  ...more,
});

const eventBridge = (detail: unknown, more: object = {}) => ({
  version: '0',
  id: '0e5a3c2b-7d1f-4a70-9c55-1f1c2a8f9d01',
  'detail-type': 'DirectoryChange',
  source: 'acme.directory',
  account: '111122223333',
  time: '2026-11-20T11:30:00Z',
  region: 'eu-central-1',
  resources: [],
  detail,
  ...more,
});

it('an SNS notification may contain one event or an array of events', () => {
  expect(changesOf(sns(deleted))).toEqual([change]);
  expect(changesOf(sns([deleted, { ...deleted, id: 'e2' }]))).toEqual([change, change]);
});

it('an event without a connection gets the connection attribute of the SNS notification', () => {
  const attributed = sns(deleted, {
    MessageAttributes: { connection: { Type: 'String', Value: 'acme-eu' } },
  });
  expect(decode(attributed, { connection: 'other' }).events[0]?.connection).toBe('acme-eu');
});

it('an SNS notification whose message is no JSON or no event is rejected as a whole', () => {
  const body = JSON.stringify(sns('not JSON'));
  expect(decode(body).rejected).toMatchObject([{ code: 'invalid_json', body }]);
  expect(problemsOf(sns('{}'))).toEqual([expect.stringMatching(/^invalid_event: expected a CloudEvent/)]);
});

it('a request to confirm an SNS subscription is rejected, so that an operator sees it', () => {
  const confirmation = {
    ...sns('please confirm'),
    Type: 'SubscriptionConfirmation',
    SubscribeURL: 'https://example.test',
  };
  expect(problemsOf(confirmation)).toEqual([expect.stringMatching(/^invalid_event/)]);
});

it('an EventBridge event may contain a directory event in its detail', () => {
  expect(changesOf(eventBridge(deleted))).toEqual([change]);
});

it('an EventBridge event with a directory detail type is a directory event', () => {
  const detail = { group: { id: '00g1' }, sequence: '7', connection: 'acme-eu' };
  const { events } = decode(eventBridge(detail, { 'detail-type': 'directory.group.deleted' }));
  expect(events).toMatchObject([{ change, source: 'acme.directory', connection: 'acme-eu' }]);
  expect(events[0]?.stamp).toMatch(/^2026-11-20T11:30:00\.000000000Z\.017\./);
});

it.each([
  ['2026-11-20T11:29:59.750+00:00', '2026-11-20T11:29:59.750000000Z'],
  ['yesterday', '2026-11-20T11:30:00.000000000Z'],
  [undefined, '2026-11-20T11:30:00.000000000Z'],
])('the time of an EventBridge event is that of its detail, %s, or else of the envelope', (time, at) => {
  const detail = { group: { id: '00g1' }, time };
  const [event] = decode(eventBridge(detail, { 'detail-type': 'directory.group.deleted' })).events;
  expect(event?.stamp.slice(0, 30)).toBe(at);
});

it.each([{}, { instance: 'i-1', state: 'running' }])('the EventBridge detail %j is ignored', (detail) => {
  expect(decode(eventBridge(detail))).toEqual({ events: [], ignored: 1, rejected: [] });
});

it('an EventBridge event with an invalid directory event in its detail is rejected', () => {
  expect(problemsOf(eventBridge({ ...deleted, data: {} }))).toEqual([
    expect.stringMatching(/^invalid_event: data\.group/),
  ]);
});

it('an event is read from up to four nested envelopes, and five envelopes are rejected', () => {
  expect(changesOf(sns(eventBridge(deleted)))).toEqual([change]);
  const four = sns(sns(sns(sns(deleted))));
  expect(changesOf(four)).toEqual([change]);
  expect(problemsOf(sns(four))).toEqual(['invalid_event: expected at most 4 nested envelopes']);
});
