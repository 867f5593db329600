import * as z from 'zod';
import type { DirectoryChange } from '../../domain/event.ts';
import { groupId, memberId } from '../../domain/ids.ts';
import { MAX_ID_LENGTH, MAX_SNAPSHOT_PARTS } from './bounds.ts';
import { ConnectionText, expecting, GroupName, Identifier, Instant, Sequence } from './fields.ts';
import { MemberField, MembersField } from './member.ts';

const object = <Shape extends z.ZodRawShape>(what: string, shape: Shape) => z.object(shape, expecting(what));

const GroupField = object('a group {id}', {
  id: Identifier.describe('Stable id of the group in the directory.'),
});

const PART_COUNT = expecting(`a count from 1 to ${MAX_SNAPSHOT_PARTS}`);
const PartField = z.lazy(() =>
  object('a part {snapshotId, index, count}', {
    snapshotId: Identifier.describe('An id that all parts of one snapshot have, and no other snapshot has.'),
    index: z.int(expecting('an index from 0')).check(z.gte(0, expecting('an index from 0'))),
    count: z.int(PART_COUNT).check(z.gte(1, PART_COUNT), z.lte(MAX_SNAPSHOT_PARTS, PART_COUNT)),
  }).refine(({ index, count }) => index < count, { error: 'expected an index below the count' }),
);

/** A null field counts as absent. */
const withoutNulls = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as {
    readonly [Name in keyof Fields]?: NonNullable<Fields[Name]>;
  };

const membership = (kind: 'member.added' | 'member.removed', meaning: string) =>
  z.lazy(() =>
    object('data {group, members}', { group: GroupField, members: MembersField })
      .transform(({ group, members }): DirectoryChange => ({ kind, group: groupId(group.id), members }))
      .describe(meaning),
  );

/** The `data` of every native event type, and the change that it means. */
export const NATIVE_DATA = {
  'directory.group.upserted': z.lazy(() =>
    object('data {group}', { group: GroupField.extend({ name: GroupName }) })
      .transform(
        ({ group: { id, name, ...given } }): DirectoryChange => ({
          kind: 'group.upserted',
          group: groupId(id),
          name,
          ...withoutNulls(given),
        }),
      )
      .describe('The group exists and has this name.'),
  ),

  'directory.group.deleted': z.lazy(() =>
    object('data {group}', { group: GroupField })
      .transform(({ group }): DirectoryChange => ({ kind: 'group.deleted', group: groupId(group.id) }))
      .describe('The group was deleted. Its name and its members are gone.'),
  ),

  'directory.group.snapshot': z.lazy(() =>
    object('data {group, members}', {
      group: GroupField.extend({ name: GroupName.nullish() }),
      members: MembersField,
      part: PartField.nullish(),
    })
      .transform(
        ({ group: { id, ...given }, members, part }): DirectoryChange => ({
          kind: 'group.snapshot',
          group: groupId(id),
          ...withoutNulls(given),
          members,
          ...(part != null && { part }),
        }),
      )
      .describe(
        'The group exists, and these are all its members. A snapshot in parts takes effect when all parts have arrived.',
      ),
  ),

  'directory.group.member.added': membership(
    'member.added',
    'These members joined the group. The event never creates or restores a group.',
  ),

  'directory.group.member.removed': membership('member.removed', 'These members left the group.'),

  'directory.user.upserted': z.lazy(() =>
    object('data {user}', { user: MemberField })
      .transform(({ user }): DirectoryChange => ({ kind: 'user.upserted', user }))
      .describe('Attributes of a member changed. Attributes that are absent in the event keep their values.'),
  ),

  'directory.user.deleted': z.lazy(() =>
    object('data {user}', {
      user: object('a user {id}', { id: Identifier.describe('Stable id of the user in the directory.') }),
    })
      .transform(({ user }): DirectoryChange => ({ kind: 'user.deleted', user: memberId(user.id) }))
      .describe('The user leaves every group. A later event can add the user again.'),
  ),
} as const satisfies Record<string, z.ZodType<DirectoryChange>>;

type NativeType = keyof typeof NATIVE_DATA;
export const NATIVE_TYPES = Object.keys(NATIVE_DATA) as readonly NativeType[];
export const isNativeType = (type: string): type is NativeType => Object.hasOwn(NATIVE_DATA, type);

/** Attributes that every CloudEvent must have (CloudEvents 1.0, "Required attributes"). */
export const CloudEvent = object('a CloudEvent', {
  specversion: z.literal('1.0', { error: 'expected "1.0"' }),
  id: Identifier.describe('An id, unique within the source. It orders events of the same time and sequence.'),
  source: Identifier.describe('The producer of the event, such as okta/acme.').meta({
    format: 'uri-reference',
  }),
  type: z.string(expecting('an event type')).min(1, expecting('an event type')).max(MAX_ID_LENGTH),
});

/** An invalid actor is ignored, and the event is accepted. */
const Actor = Identifier.nullish()
  .catch(undefined)
  .describe(
    'The id or user name of the person who made the change in the directory. It is stored with the change.',
  );

/** Returns the schema of one native event. The decoder uses the schema, and `docs/events` is generated from it. */
export const nativeEvent = <Type extends NativeType>(type: Type) =>
  CloudEvent.extend({
    type: z.literal(type),
    time: Instant.describe('The time of the change (RFC 3339). Events are ordered by this time first.'),
    sequence: Sequence.nullish().describe(
      'Orders events of the same time. The event with the greater sequence is later, and an event without a sequence is the earliest.',
    ),
    connection: ConnectionText.nullish().describe('The connection of the event. Default: default.'),
    actor: Actor,
    data: NATIVE_DATA[type],
  });
