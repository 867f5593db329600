import * as z from 'zod';
import { ACTIVE_ATTRIBUTE } from './active.ts';
import { type DirectoryChange, membersIn } from './event.ts';
import { type Frozen, number, text, texts } from './forms.ts';
import type { ConnectionName } from './ids.ts';

/**
 * What came of a delivery. `not_found`: a search without a result. `ignored`: no change that groupsync uses. `refused`:
 * the source must correct it. `failed`: an error of groupsync or of the directory. `retried`: the message will be
 * received again.
 */
const OUTCOMES = z.enum(['accepted', 'ignored', 'not_found', 'refused', 'failed', 'retried']);
const optional = text.nullable();

/** One request, message or run of a reader. It contains ids and the names of attributes, but no body and no value. */
export const Delivery = z.object({
  id: text,
  /** The time of a request or run, or the time at which a message was first sent. */
  atMs: number,
  client: z.object({ kind: z.enum(['scim', 'event', 'reader']), id: text }),
  request: text,
  summary: text.describe('What the source sent, in words.'),
  outcome: OUTCOMES,
  status: number.nullable().describe('The HTTP status; null for a message or a run.'),
  code: optional.describe('scimType, token_expired, a dead-letter code, or the kind of an error.'),
  detail: optional.describe('The message of a SCIM error. It contains no value of the request.'),
  groups: texts,
  members: texts,
  events: texts.describe('The ids of the events that a change names as its cause, at most 16.'),
  named: number.describe('Groups and members in the delivery. Only 16 are stored and found by a filter.'),
  filter: z
    .object({ attribute: text, operator: text, hash: text })
    .nullable()
    .describe('The search of a client. Equal values have equal hashes.'),
  bytes: number,
  elapsedMs: number.describe('For a message, from its first sending to the end of the work.'),
});
export type Delivery = Frozen<z.infer<typeof Delivery>>;

/** A record that is not stored yet. A message has its own id, so that its record replaces an earlier one. */
export interface DeliveryOf {
  readonly connection: ConnectionName;
  readonly delivery: Omit<Delivery, 'id'> & Partial<Pick<Delivery, 'id'>>;
}

export const DELIVERY_LIFETIME_MS = 30 * 86_400_000;
export const MAX_IDS = 16;

export interface NamedIds {
  readonly groups: Iterable<string>;
  readonly members: Iterable<string>;
}

/** Returns the first ids, groups before members, and the number of all different ids. */
export function firstIds({ groups, members }: NamedIds): Pick<Delivery, 'groups' | 'members' | 'named'> {
  const [allGroups, allMembers] = [[...new Set(groups)], [...new Set(members)]];
  const firstGroups = allGroups.slice(0, MAX_IDS);
  return {
    groups: firstGroups,
    members: allMembers.slice(0, MAX_IDS - firstGroups.length),
    named: allGroups.length + allMembers.length,
  };
}

/** Words with a number, or without one. */
type Part = readonly [words: string, count?: number];

/** Returns the parts as one text, with the sum of each number: `add 2, remove 1`. */
export function summaryOf(parts: readonly Part[]): string {
  const sums = new Map<string, number | undefined>();
  for (const [words, count] of parts)
    sums.set(words, count === undefined ? undefined : (sums.get(words) ?? 0) + count);
  return [...sums].map(([words, sum = '']) => `${words} ${sum}`.trim()).join(', ');
}

export const meaningOfChanges = (changes: readonly DirectoryChange[]) => ({
  summary: summaryOf(changes.map(partOf)),
  ...firstIds({
    groups: changes.flatMap((change) => ('group' in change ? change.group : [])),
    members: changes.flatMap(membersIn),
  }),
});

function partOf(change: DirectoryChange): Part {
  switch (change.kind) {
    case 'member.added':
      return ['add', change.members.length];
    case 'member.removed':
      return ['remove', change.members.length];
    case 'group.snapshot':
      return ['all members:', change.members.length];
    case 'user.upserted':
      return [change.user.attributes.get(ACTIVE_ATTRIBUTE) === 'false' ? 'account off' : 'describe user'];
    default:
      return [WORDS[change.kind]];
  }
}

const WORDS = {
  'group.upserted': 'name group',
  'group.deleted': 'delete group',
  'user.deleted': 'delete user',
};
