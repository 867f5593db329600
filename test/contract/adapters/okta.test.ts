import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { changesOf, decode, member, problemsOf } from '../decoding.ts';

const TOO_MANY = 'too_large: target: expected at most 20000 targets, and at most as many memberships';
const user = (more: object = {}) => ({
  id: '00u9ktm2xQ',
  type: 'User',
  alternateId: 'ann.lee@acme.example',
  displayName: 'Ann Lee',
  detailEntry: null,
  ...more,
});
const group = (more: object = {}) => ({
  id: '00g4rtb7sK',
  type: 'UserGroup',
  alternateId: 'unknown',
  displayName: 'Sales',
  detailEntry: null,
  ...more,
});

/** The LogEvent object of the System Log API, with the fields that every event has. */
const logEvent = (eventType: string, target: unknown, more: object = {}) => ({
  uuid: 'c9a1f5d2-c30e-11f0-8f5a-3d1c6a9b7e02',
  published: '2026-11-20T10:00:00.321Z',
  eventType,
  version: '0',
  severity: 'INFO',
  displayMessage: 'as Okta words it',
  actor: {
    id: '00uAdmin',
    type: 'User',
    alternateId: 'admin@acme.example',
    displayName: 'Admin',
    detailEntry: null,
  },
  client: { userAgent: null, zone: 'null', device: 'Computer', id: null, ipAddress: '192.0.2.1' },
  outcome: { result: 'SUCCESS', reason: null },
  target,
  transaction: { type: 'WEB', id: 'aR1', detail: {} },
  debugContext: { debugData: { requestId: 'aR1' } },
  authenticationContext: { authenticationStep: 0, externalSessionId: '102a' },
  securityContext: { asNumber: null, isProxy: null },
  ...more,
});

const ann = { userName: 'ann.lee@acme.example', email: 'ann.lee@acme.example', name: 'Ann Lee' };
const annMember = member('00u9ktm2xQ', ann);
const switched = (active: string) => member('00u9ktm2xQ', { ...ann, 'scim:active': active });

it.each([
  [
    'group.user_membership.add',
    [user(), group()],
    { kind: 'member.added', group: '00g4rtb7sK', members: [annMember] },
  ],
  [
    'group.user_membership.remove',
    [user(), group()],
    { kind: 'member.removed', group: '00g4rtb7sK', members: [annMember] },
  ],
  ['group.lifecycle.create', [group()], { kind: 'group.upserted', group: '00g4rtb7sK', name: 'Sales' }],
  [
    'group.profile.update',
    [group({ displayName: 'Sales EU' })],
    { kind: 'group.upserted', group: '00g4rtb7sK', name: 'Sales EU' },
  ],
  ['group.lifecycle.delete', [group()], { kind: 'group.deleted', group: '00g4rtb7sK' }],
  ['user.lifecycle.delete.completed', [user()], { kind: 'user.deleted', user: '00u9ktm2xQ' }],
  ['user.lifecycle.deactivate', [user()], { kind: 'user.upserted', user: switched('false') }],
  ['user.lifecycle.activate', [user()], { kind: 'user.upserted', user: switched('true') }],
  ['user.lifecycle.create', [user()], { kind: 'user.upserted', user: annMember }],
  ['user.lifecycle.delete.initiated', [user()], { kind: 'user.upserted', user: annMember }],
  ['user.lifecycle.reactivate', [user()], { kind: 'user.upserted', user: switched('true') }],
  ['user.account.update_profile', [user()], { kind: 'user.upserted', user: annMember }],
])('the Okta event %s is decoded as a change', (eventType, target, change) => {
  expect(changesOf(logEvent(eventType, target))).toEqual([change]);
});

it('the stamp of an Okta event has its published time and uuid, whatever the envelope', () => {
  const event = logEvent('group.lifecycle.delete', [group()]);
  const stamp = decode(event).events[0]?.stamp;
  expect(stamp).toMatch(/^2026-11-20T10:00:00\.321000000Z\.00\./);
  const streamed = {
    version: '0',
    id: '5d3f',
    'detail-type': 'SystemLog',
    source: 'aws.partner/okta.com/acme/groupsync',
    account: '111122223333',
    time: '2026-11-20T10:00:04Z',
    region: 'eu-central-1',
    resources: [],
    detail: event,
  };
  const hooked = {
    eventType: 'com.okta.event_hook',
    eventTypeVersion: '1.0',
    cloudEventsVersion: '0.1',
    source: 'https://acme.okta.example/api/v1/eventHooks/who1',
    eventId: '7a1c',
    eventTime: '2026-11-20T10:00:06.000Z',
    contentType: 'application/json',
    data: { events: [event] },
  };
  expect(decode(streamed).events[0]?.stamp).toBe(stamp);
  expect(decode(hooked).events[0]?.stamp).toBe(stamp);
});

it.each([
  'user.session.start',
  'application.lifecycle.update',
  'group.privilege.grant',
  'policy.rule.update',
])('the Okta event %s is ignored', (eventType) => {
  expect(decode(logEvent(eventType, null))).toEqual({ events: [], ignored: 1, rejected: [] });
});

it.each(['FAILURE', 'SKIPPED', 'DENY'])('an Okta event with the result %s is ignored', (result) => {
  const event = logEvent('group.user_membership.add', [user(), group()], {
    outcome: { result, reason: 'x' },
  });
  expect(decode(event)).toEqual({ events: [], ignored: 1, rejected: [] });
});

it('a person is identified by the User even if the event also names an AppUser', () => {
  const target = [user({ id: '0ua1', type: 'AppUser' }), user(), group()];
  expect(changesOf(logEvent('group.user_membership.add', target))).toMatchObject([
    { members: [{ id: '00u9ktm2xQ' }] },
  ]);
});

it.each([
  ['ann', { userName: 'ann', name: 'Ann Lee' }],
  ['unknown', { name: 'Ann Lee' }],
  [null, { name: 'Ann Lee' }],
  ['ann@', { userName: 'ann@', name: 'Ann Lee' }],
])('the alternateId %j sets only the attributes that it contains', (alternateId, attributes) => {
  expect(changesOf(logEvent('user.lifecycle.create', [user({ alternateId })]))).toEqual([
    { kind: 'user.upserted', user: member('00u9ktm2xQ', attributes) },
  ]);
});

it.each([
  ['group.user_membership.add', [group()], 'invalid_event: target: expected a UserGroup and a User'],
  ['group.user_membership.add', [user()], 'invalid_event: target: expected a UserGroup and a User'],
  ['group.lifecycle.create', null, 'invalid_event: target: expected a UserGroup'],
  ['user.lifecycle.create', [group()], 'invalid_event: target: expected a User'],
  ['group.user_membership.add', Array(142).fill([group(), user()]).flat(), TOO_MANY],
  ['user.lifecycle.create', Array(20_001).fill(0), TOO_MANY],
])('%s is rejected without a target, or with too many targets', (eventType, target, message) => {
  expect(problemsOf(logEvent(eventType, target))).toEqual([message]);
});

it('an Okta event without a readable published time is rejected', () => {
  expect(problemsOf(logEvent('group.lifecycle.delete', [group()], { published: 'soon' }))).toEqual([
    expect.stringMatching(/^invalid_event: published: expected an RFC 3339 time/),
  ]);
});

it('the Okta example file contains changes of groups, memberships and users, and two events that are ignored', () => {
  const url = new URL('../../../examples/okta-eventbridge.jsonl', import.meta.url);
  const lines = readFileSync(url, 'utf8').trim().split('\n');
  const decoded = lines.map((line) => decode(line));
  expect(decoded.flatMap(({ rejected }) => rejected)).toEqual([]);
  expect(decoded.filter(({ ignored }) => ignored === 1)).toHaveLength(2);
  const kinds = new Set(decoded.flatMap(({ events }) => events.map(({ change }) => change.kind)));
  expect([...kinds].toSorted()).toEqual([
    'group.upserted',
    'member.added',
    'member.removed',
    'user.upserted',
  ]);
});
