import * as z from 'zod';
import { defined } from '../domain/defined.ts';
import { EventActor } from '../domain/event.ts';
import { number, stampText, text } from '../domain/forms.ts';
import type { Author, MemberRegister } from '../domain/group.ts';
import { EVENT_FIELDS } from '../domain/group-fields.ts';
import type { GroupState, StateChange, StoredMember } from '../domain/group-state.ts';
import { GroupItem, PendingCause } from '../domain/group-state.ts';
import { type GroupRef, memberId, roleId } from '../domain/ids.ts';
import { STAMP_ZERO, type Stamp } from '../domain/stamp.ts';
import { CorruptItemError } from '../sync/ports/store-errors.ts';
import { plain, understood } from './item-form.ts';
import type { Attributes, Change, Item } from './table.ts';

/*
 * The forms of the items of a group and its members. An item in an unknown form causes an error here, and not a wrong
 * result later. Lists of the index and writes of ingest read only single attributes, and do not parse the whole item.
 */

export function parseGroup(ref: GroupRef, item: Item): GroupState {
  const { upserted, deleted, snapshot, actor, ...rest } = understood(
    GroupItem,
    item,
    `a group at partition ${item.pk}`,
  );
  const fields = Object.entries(rest).filter(([key]) => FIELDS.has(key));
  const others = Object.entries(rest).filter(([key]) => !FIELDS.has(key));
  const named = others.map(([key, value]) => [TIMES.has(key) ? `${key}Ms` : key, value]);
  return {
    ...(Object.fromEntries(named) as Omit<GroupState, 'ref' | 'registers'>),
    ref,
    registers: {
      upserted,
      deleted,
      snapshot,
      ...Object.fromEntries(fields),
      ...(actor && { author: authorOf(actor) }),
    },
  };
}

const authorOf = ({ stamp, ...actor }: EventActor & { readonly stamp: Stamp }): Author => ({ stamp, actor });

const FIELDS: ReadonlySet<string> = new Set(EVENT_FIELDS);

/** The attributes of a group whose names in `GroupState` have the additional ending `Ms`. */
const TIMES = new Set([
  'dirtySince',
  'unwrittenSince',
  'wakeAt',
  'failedAt',
  'createdAt',
  'missingSince',
  'pausedAt',
  'lastWriteAt',
]);

const attributeOf = (name: string): string => {
  const time = name.replace(/Ms$/, '');
  return TIMES.has(time) ? time : name;
};

export function itemChange(change: StateChange): Required<Pick<Change, 'set' | 'remove'>> {
  const parts = Object.entries(change).map(([name, value]) => [attributeOf(name), value] as const);
  const isMap = (value: unknown) => typeof value === 'object' && !Array.isArray(value);
  const stored = parts.map(([name, value]) => [name, isMap(value) ? plain(value as object) : value]);
  return {
    set: plain(Object.fromEntries(stored)) as Attributes,
    remove: parts.flatMap(([name, value]) => (value === undefined ? [name] : [])),
  };
}

/** The form of member ids and stamps is not checked, because a check of a hundred thousand members takes long. */
const MemberItem = z.lazy(() =>
  z.object({
    member: text,
    presence: z.enum(['absent', 'present']),
    stamp: text,
    presentAt: stampText.exactOptional(),
    actor: EventActor.exactOptional(),
    copyRevision: number.optional(),
    copyFloor: stampText.default(STAMP_ZERO),
    copyRole: text.optional(),
    copyUserId: text.optional(),
    pendingCause: PendingCause.optional(),
    pendingSince: number.default(0),
    pendingRevision: text.optional(),
    pendingHidden: z.object({ revision: text, atMs: number }).optional(),
  }),
);

const memberAt = ({ pk }: Item): string => `a member register in partition ${pk}`;

export function parseMember(item: Item): StoredMember {
  const read = understood(MemberItem, item, memberAt(item));
  const { member, presence, stamp, copyRevision, copyFloor, copyRole, copyUserId } = read;
  const { pendingCause, pendingSince, pendingRevision, pendingHidden, actor, presentAt } = read;
  const role = copyRole !== undefined && { role: roleId(copyRole) };
  const boundTo = { ...role, ...(copyUserId !== undefined && { userId: copyUserId }) };
  const user = copyRevision !== undefined && {
    user: { revision: copyRevision, floor: copyFloor, ...boundTo },
  };
  const revision = defined({ personRevision: pendingRevision, hidden: pendingHidden });
  const pending = pendingCause && { pending: { cause: pendingCause, sinceMs: pendingSince, ...revision } };
  const register = { member: memberId(member), value: presence, stamp: stamp as Stamp };
  return { ...register, ...(presentAt && { presentAt }), ...(actor && { actor }), ...user, ...pending };
}

/**
 * Returns the presence of a member with its stamp. The function uses no schema, which makes it fifty times faster: each
 * response with a list of members parses all registers of the list.
 * @throws CorruptItemError as `parseMember` does
 */
export function parsePresence(item: Item): MemberRegister {
  const { member, presence, stamp } = item;
  const isPresence = presence === 'present' || presence === 'absent';
  if (typeof member !== 'string' || typeof stamp !== 'string' || !isPresence) {
    throw new CorruptItemError(`expected ${memberAt(item)}`);
  }
  return { member: memberId(member), value: presence, stamp: stamp as Stamp };
}
