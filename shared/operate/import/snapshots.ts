import type { FileKind } from './identify.ts';
import type { Row } from './rows.ts';

/**
 * The maximum size of the members in one part, in bytes of JSON (about a hundred members). With this size, one run of
 * ingest can store a full batch of a hundred messages, even if all members are new.
 */
const PART_BYTES = 8_000;
/** The bytes that a member needs in addition to its id and address. */
const MEMBER_OVERHEAD = 20;

/** Returns an upper bound for the bytes of a row's member in a message. */
export const weightOf = ({ member, email, attributes }: Omit<Row, 'line' | 'group' | 'name'>): number =>
  Buffer.byteLength(JSON.stringify([member, email, attributes])) + MEMBER_OVERHEAD;

export interface Cutting {
  readonly weights: (group: string) => number;
  /** The time of every event of this import. */
  readonly time: string;
  readonly importId: string;
  readonly kind: FileKind;
}

const TYPES = {
  snapshot: 'directory.group.snapshot',
  add: 'directory.group.member.added',
  remove: 'directory.group.member.removed',
} as const;

interface OpenPart {
  readonly key: string;
  readonly group: string;
  readonly kind: Row['kind'];
  readonly name: string;
  readonly index: number;
  readonly members: object[];
}

/**
 * Splits rows into events. The rows must be sorted by group and member. The first part of a group already contains the
 * number of parts, which is computed from the weight of all rows of the group. A row belongs to the part that contains
 * its last byte. A row is smaller than a part, so no part is empty.
 */
export async function* snapshotsOf(rows: AsyncIterable<Row>, cutting: Cutting): AsyncGenerator<string> {
  let messages = 0;
  for await (const part of partsOf(rows)) {
    messages += 1;
    yield eventOf(part, messages, cutting);
  }
}

async function* partsOf(rows: AsyncIterable<Row>): AsyncGenerator<OpenPart> {
  let part: OpenPart | undefined;
  let weight = 0;
  let last = '';
  for await (const row of rows) {
    const key = `${row.kind} ${row.group}`;
    if (part?.key !== key) {
      weight = 0;
      last = '';
    }
    weight += weightOf(row);
    const index = partOf(weight);
    if (part?.key !== key || part.index !== index) {
      if (part !== undefined) yield part;
      part = { key, group: row.group, kind: row.kind, name: row.name, index, members: [] };
    }
    if (addsMember(row, last)) part.members.push(memberOf(row));
    last = row.member;
  }
  if (part !== undefined) yield part;
}

/**
 * Returns whether a line adds a member. A line without a member only names the group. Repeated lines of a member are
 * equal, because they were checked before.
 */
const addsMember = ({ member }: Row, last: string): boolean => member !== '' && member !== last;

const memberOf = ({ member: id, email, attributes }: Row) => ({
  ...attributes,
  id,
  ...(email !== '' && { email }),
});

const partOf = (weight: number): number => Math.floor((weight - 1) / PART_BYTES);

snapshotsOf.count = (weight: number): number => partOf(weight) + 1;

function eventOf(
  { group, name, index, members, ...part }: OpenPart,
  ordinal: number,
  { weights, time, importId, ...cutting }: Cutting,
): string {
  const kind = part.kind ?? cutting.kind;
  const count = snapshotsOf.count(weights(group));
  return JSON.stringify({
    specversion: '1.0',
    id: `${importId}.${ordinal}`,
    source: 'groupsync/import',
    type: TYPES[kind],
    time,
    data: {
      group: kind === 'snapshot' ? { id: group, name } : { id: group },
      members,
      ...(count === 1 || kind !== 'snapshot' ? {} : { part: { snapshotId: importId, index, count } }),
    },
  });
}
