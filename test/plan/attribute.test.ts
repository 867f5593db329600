import { expect, it } from 'vitest';
import type { ActivityEvent, DriftKind } from '../../shared/domain/drift.ts';
import { attribute } from '../../shared/plan/attribute.ts';

const MEMBER_ADDED = 'EXTERNAL_GROUP_MEMBER_ADD';
const MEMBER_REMOVED = 'EXTERNAL_GROUP_MEMBER_REMOVE';
const REMOVED = 'EXTERNAL_GROUP_REMOVE';
const ADDED = 'EXTERNAL_GROUP_ADD';
const OTHER = 'SOMETHING_UNLISTED';

type Told = readonly (readonly [id: string, initiator: string, type: string])[];
const activityEvents = (...events: Told): ActivityEvent[] =>
  events.map(([id, initiator, type]) => ({ id, initiator, type, at: null }));

it.each<[DriftKind, string]>([
  ['members_added', MEMBER_ADDED],
  ['members_removed', MEMBER_REMOVED],
  ['deleted', REMOVED],
  ['recreated', REMOVED],
  ['name', OTHER],
  ['spoke_id', OTHER],
  ['duplicate_spoke_id', ADDED],
  ['duplicate_spoke_id', OTHER],
])('a difference of kind %s is attributed to events of type %s, not of others', (kind, type) => {
  const wrong = [MEMBER_ADDED, MEMBER_REMOVED, REMOVED].filter((one) => one !== type);
  const told = activityEvents(
    ['right', 'EXTERNAL', type],
    ...wrong.map((one) => [one, 'ROLE', one] as const),
  );
  expect(attribute(kind, told)).toEqual({ initiator: 'EXTERNAL', eventIds: ['right'] });
});

it.each<[string, string[], string]>([
  ['a person before the platform', ['SYSTEM', 'ROLE'], 'ROLE'],
  ['the platform before an application, which may be groupsync', ['EXTERNAL', 'SYSTEM'], 'SYSTEM'],
  ['a known initiator before an unknown initiator', ['ROBOT', 'EXTERNAL'], 'EXTERNAL'],
  ['the first of equal initiators', ['ROBOT', 'GHOST'], 'ROBOT'],
])('attribute returns %s, with the events of that initiator only', (_, initiators, named) => {
  const told = activityEvents(
    ...initiators.map((initiator) => [`by ${initiator}`, initiator, MEMBER_ADDED] as const),
  );
  expect(attribute('members_added', told)).toEqual({ initiator: named, eventIds: [`by ${named}`] });
});

const OWN = ['own', 'EXTERNAL', MEMBER_ADDED] as const;
it.each<[string, DriftKind, Told, string, string[]]>([
  ['of another type, if none has its type', 'name', [['a', 'ROLE', MEMBER_REMOVED]], 'ROLE', ['a']],
  ['of another type, but not of an application, which may be groupsync', 'deleted', [OWN], 'UNKNOWN', []],
  ['of an unlisted type', 'deleted', [OWN, ['theirs', 'EXTERNAL', OTHER]], 'EXTERNAL', ['theirs']],
  ['of the platform', 'deleted', [OWN, ['theirs', 'SYSTEM', OTHER]], 'SYSTEM', ['theirs']],
  ['about a member, but not if it is a deletion', 'deleted', [['a', 'ROLE', MEMBER_ADDED]], 'UNKNOWN', []],
  ['about a member, but not of an application', 'name', [OWN], 'UNKNOWN', []],
  ['of any type, but not without an event', 'name', [], 'UNKNOWN', []],
])('a difference is attributed to an event %s', (_, kind, told, initiator, eventIds) => {
  expect(attribute(kind, activityEvents(...told))).toEqual({ initiator, eventIds });
});
