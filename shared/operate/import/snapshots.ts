import type { FileKind } from './identify.ts';
import { byGroup } from './row-sort.ts';
import type { Row } from './rows.ts';

/**
 * The maximum size of the members in one part, in bytes of JSON (about a hundred members). With this size, one run of
 * ingest can store a full batch of a hundred messages, even if all members are new.
 */
const PART_BYTES = 8_000;
/** The bytes that a member needs in addition to its id and address. */
const MEMBER_OVERHEAD = 20;

const weightOf = ({ member, email, attributes }: Row): number =>
  Buffer.byteLength(JSON.stringify([member, email, attributes])) + MEMBER_OVERHEAD;

export interface Cutting {
  readonly time: string;
  readonly importId: string;
  readonly kind: FileKind;
  readonly source: string;
}

const TYPES = {
  snapshot: 'directory.group.snapshot',
  add: 'directory.group.member.added',
  remove: 'directory.group.member.removed',
} as const;

interface Part {
  readonly members: readonly object[];
  readonly index: number;
  readonly count: number;
}

/** Splits rows into events. The rows must be sorted by group and member. */
export function* snapshotsOf(rows: readonly Row[], cutting: Cutting) {
  let messages = 0;
  for (const some of byGroup(rows)) {
    const parts = partsOf(some);
    for (const [index, members] of parts.entries()) {
      messages += 1;
      const part = { members, index, count: parts.length };
      yield { body: eventOf(some[0], part, messages, cutting), size: members.length };
    }
  }
}

export const countMessages = (rows: readonly Row[]): number =>
  byGroup(rows).reduce((sum, some) => sum + partsOf(some).length, 0);

/**
 * Returns the members of a group in parts. A row belongs to the part that contains its last byte. A row is smaller than
 * a part, so no part is empty.
 */
function partsOf(rows: readonly Row[]): readonly (readonly object[])[] {
  const parts: object[][] = [];
  let weight = 0;
  let last = '';
  for (const row of rows) {
    weight += weightOf(row);
    const index = Math.floor((weight - 1) / PART_BYTES);
    const part = parts[index] ?? [];
    parts[index] = part;
    // A line without a member only names the group. Repeated lines of a member are equal (`checkRows`).
    if (row.member !== '' && row.member !== last) part.push(memberOf(row));
    last = row.member;
  }
  return parts;
}

const memberOf = ({ member: id, email, attributes }: Row) => ({
  ...attributes,
  id,
  ...(email !== '' && { email }),
});

function eventOf(
  { group, name, kind: ofRow }: Row,
  { members, ...part }: Part,
  ordinal: number,
  { time, importId, kind: ofFile, source }: Cutting,
): string {
  const kind = ofRow ?? ofFile;
  return JSON.stringify({
    specversion: '1.0',
    id: `${importId}.${ordinal}`,
    source,
    type: TYPES[kind],
    time,
    data: {
      group: kind === 'snapshot' ? { id: group, name } : { id: group },
      members,
      ...(part.count === 1 || kind !== 'snapshot' ? {} : { part: { snapshotId: importId, ...part } }),
    },
  });
}
