import { expect, it } from 'vitest';
import type { ActivityEvent, DriftKind } from '../../shared/domain/drift.ts';
import { attribute } from '../../shared/plan/attribute.ts';

const MEMBER_ADDED = 'EXTERNAL_GROUP_MEMBER_ADD';
const MEMBER_REMOVED = 'EXTERNAL_GROUP_MEMBER_REMOVE';
const REMOVED = 'EXTERNAL_GROUP_REMOVE';
const ADDED = 'EXTERNAL_GROUP_ADD';
const OTHER = 'SOMETHING_UNLISTED';

const activityEvents = (
  ...events: readonly (readonly [id: string, initiator: string, type: string])[]
): ActivityEvent[] => events.map(([id, initiator, type]) => ({ id, initiator, type, at: null }));

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

it('attribute uses an event of another type if no event has the type of the difference', () => {
  const told = activityEvents(['a', 'ROLE', MEMBER_REMOVED]);
  expect(attribute('name', told)).toEqual({ initiator: 'ROLE', eventIds: ['a'] });
});

it('a difference is not attributed to an event of another type from an application, which may be groupsync', () => {
  const told = activityEvents(['own', 'EXTERNAL', MEMBER_ADDED]);
  expect(attribute('deleted', told)).toEqual({ initiator: 'UNKNOWN', eventIds: [] });
  const unlisted = activityEvents(['own', 'EXTERNAL', MEMBER_ADDED], ['theirs', 'EXTERNAL', OTHER]);
  expect(attribute('deleted', unlisted)).toEqual({ initiator: 'EXTERNAL', eventIds: ['theirs'] });
  const both = activityEvents(['own', 'EXTERNAL', MEMBER_ADDED], ['theirs', 'SYSTEM', OTHER]);
  expect(attribute('deleted', both)).toEqual({ initiator: 'SYSTEM', eventIds: ['theirs'] });
});

it('a deletion is not attributed to an event about a member', () => {
  const told = activityEvents(['other', 'ROLE', MEMBER_ADDED]);
  expect(attribute('deleted', told)).toEqual({ initiator: 'UNKNOWN', eventIds: [] });
  expect(attribute('name', activityEvents(['own', 'EXTERNAL', MEMBER_ADDED])).initiator).toBe('UNKNOWN');
});

it('attribute returns UNKNOWN without an event', () => {
  expect(attribute('name', [])).toEqual({ initiator: 'UNKNOWN', eventIds: [] });
});
