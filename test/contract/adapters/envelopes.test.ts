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

const wrapped = sns(eventBridge(deleted));
const four = sns(sns(sns(sns(deleted))));
it.each<[string, object, object[]]>([
  ['an SNS notification', sns(deleted), [change]],
  ['an SNS notification with an array', sns([deleted, { ...deleted, id: 'e2' }]), [change, change]],
  ['the detail of an EventBridge event', eventBridge(deleted), [change]],
  ['an SNS notification of an EventBridge event', wrapped, [change]],
  ['four nested envelopes', four, [change]],
])('events are read from %s', (_, body, changes) => {
  expect(changesOf(body)).toEqual(changes);
});

it.each<[string, object, RegExp]>([
  ['whose message is no event', sns('{}'), /^invalid_event: expected a CloudEvent/],
  [
    'that requests to confirm a subscription, so that an operator sees it',
    { ...sns('please confirm'), Type: 'SubscriptionConfirmation', SubscribeURL: 'https://example.test' },
    /^invalid_event/,
  ],
  ['whose detail is an invalid event', eventBridge({ ...deleted, data: {} }), /^invalid_event: data\.group/],
  ['with five envelopes', sns(four), /^invalid_event: expected at most 4 nested envelopes$/],
])('an envelope %s is rejected', (_, body, problem) => {
  expect(problemsOf(body)).toEqual([expect.stringMatching(problem)]);
});

it('an event without a connection gets the connection attribute of the SNS notification', () => {
  const attributed = sns(deleted, {
    MessageAttributes: { connection: { Type: 'String', Value: 'acme-eu' } },
  });
  expect(decode(attributed, { connection: 'other' }).events[0]?.connection).toBe('acme-eu');
});

it('an SNS notification whose message is no JSON is rejected as a whole', () => {
  const body = JSON.stringify(sns('not JSON'));
  expect(decode(body).rejected).toMatchObject([{ code: 'invalid_json', body }]);
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
