import * as z from 'zod';
import { ACTIVE_ATTRIBUTE } from '../../domain/active.ts';
import type { DirectoryChange, EventActor } from '../../domain/event.ts';
import { MAX_MEMBERS_PER_EVENT, MAX_NAME_LENGTH } from '../events/bounds.ts';
import { Identifier, Instant, LONE_SURROGATE } from '../events/fields.ts';
import { attributesOfLogin } from '../events/member.ts';
import { NATIVE_DATA } from '../events/native.ts';
import { type Adapter, IGNORED, invalid, invalidBy, type MessageReading } from './reading.ts';

const Target = z.lazy(() =>
  z.object({
    id: z.unknown(),
    type: z.string(),
    alternateId: z.string().nullish(),
    displayName: z.string().nullish(),
  }),
);
type Target = z.infer<typeof Target>;

/** The fields of the actor that groupsync uses. Other fields are not checked. */
const OktaActor = z.lazy(() =>
  z
    .object({ id: Identifier, alternateId: z.string().nullish(), displayName: z.string().nullish() })
    .nullish()
    .catch(undefined),
);

const TOO_MANY = `expected at most ${MAX_MEMBERS_PER_EVENT} targets, and at most as many memberships`;

/** The parts of an Okta LogEvent that groupsync uses (Okta System Log API, "LogEvent object"). */
const LogEvent = z.lazy(() =>
  z.object({
    uuid: Identifier,
    published: Instant,
    eventType: z.string(),
    outcome: z.object({ result: z.string().nullish() }).nullish(),
    actor: OktaActor,
    target: z.array(Target).max(MAX_MEMBERS_PER_EVENT, TOO_MANY).nullish(),
  }),
);

/** Outcomes of an attempt that changed nothing in the directory. */
const NOT_DONE = new Set(['FAILURE', 'SKIPPED', 'DENY', 'CHALLENGE', 'ABANDONED']);

/** Reads one System Log event. An event has the same stamp whether it comes from a log stream or from an event hook. */
export const readOkta: Adapter = (value) => {
  if (!['uuid', 'published', 'eventType'].every((key) => Object.hasOwn(value, key))) return undefined;
  const parsed = LogEvent.safeParse(value);
  if (!parsed.success) return invalidBy(parsed.error);
  const { uuid, published, eventType, outcome, actor, target } = parsed.data;
  const type = nativeTypeOf(eventType);
  if (type === undefined || NOT_DONE.has(outcome?.result ?? '')) return IGNORED;
  const changes = changesOf(type, target ?? [], ACTIVE[eventType]);
  return 'kind' in changes
    ? changes
    : { kind: 'changes', source: 'okta', id: uuid, time: published, actor: actorOf(actor), ...changes };
};

const NATIVE_TYPES: Readonly<Record<string, keyof typeof NATIVE_DATA>> = {
  'group.user_membership.add': 'directory.group.member.added',
  'group.user_membership.remove': 'directory.group.member.removed',
  'group.lifecycle.create': 'directory.group.upserted',
  'group.profile.update': 'directory.group.upserted',
  'group.lifecycle.delete': 'directory.group.deleted',
  'user.lifecycle.delete.completed': 'directory.user.deleted',
  'user.account.update_profile': 'directory.user.upserted',
};

/** Okta keeps the groups of a deactivated account. When the account is activated again, Okta sends no group event. */
const ACTIVE: Readonly<Record<string, 'true' | 'false'>> = {
  'user.lifecycle.deactivate': 'false',
  'user.lifecycle.activate': 'true',
  'user.lifecycle.reactivate': 'true',
};

/** Returns the native type for an Okta event type; undefined if the event does not concern groups or members. */
function nativeTypeOf(eventType: string): keyof typeof NATIVE_DATA | undefined {
  if (Object.hasOwn(NATIVE_TYPES, eventType)) return NATIVE_TYPES[eventType];
  return eventType.startsWith('user.lifecycle.') ? 'directory.user.upserted' : undefined;
}

function changesOf(
  type: keyof typeof NATIVE_DATA,
  targets: readonly Target[],
  active: 'true' | 'false' | undefined,
): MessageReading | { readonly changes: readonly DirectoryChange[] } {
  const groups = targets.filter((target) => target.type === 'UserGroup');
  const members = usersAmong(targets).map(memberOf);
  const isOfUser = type.startsWith('directory.user.');
  const data = isOfUser
    ? members.map((user) => ({ user: { ...user, [ACTIVE_ATTRIBUTE]: active } }))
    : groups.map(({ id, displayName }) => ({ group: { id, name: displayName }, members }));
  const isMembership = type.startsWith('directory.group.member.');
  if (isMembership && (groups.length === 0 || members.length === 0))
    return invalid('target: expected a UserGroup and a User');
  if (data.length === 0) return invalid(`target: expected ${isOfUser ? 'a User' : 'a UserGroup'}`);
  // Each group is combined with each member. Without this limit, thousands of groups and members would give millions of
  // memberships.
  if (isMembership && groups.length * members.length > MAX_MEMBERS_PER_EVENT)
    return invalid(`target: ${TOO_MANY}`, 'too_large');
  const changes: DirectoryChange[] = [];
  for (const item of data) {
    const parsed = NATIVE_DATA[type].safeParse(item);
    if (!parsed.success) return invalidBy(parsed.error);
    changes.push(parsed.data);
  }
  return { changes };
}

/** An AppUser is a User with an id of one application. The AppUser counts only if the event names no User. */
function usersAmong(targets: readonly Target[]): readonly Target[] {
  const users = targets.filter((target) => target.type === 'User');
  return users.length > 0 ? users : targets.filter((target) => target.type === 'AppUser');
}

function actorOf(actor: z.infer<typeof OktaActor>): EventActor | undefined {
  if (actor == null) return undefined;
  const name = [actor.displayName, actor.alternateId].find(known);
  return {
    kind: 'directory',
    id: actor.id,
    ...(name !== undefined && { name: name.slice(0, MAX_NAME_LENGTH).replace(LONE_SURROGATE, '') }),
  };
}

/** Okta writes "unknown" for a missing value. */
const known = (text: string | null | undefined): text is string =>
  text != null && text !== '' && text !== 'unknown';

const memberOf = ({ id, alternateId, displayName }: Target) => ({
  id,
  ...(known(alternateId) && attributesOfLogin(alternateId)),
  ...(known(displayName) && { name: displayName }),
});
