import type { FileKind } from './identify.ts';
import type { Row } from './rows.ts';

/**
 * How much of a message the members of one part may take, in bytes of JSON: some hundred members. A batch of ingest is
 * a hundred messages, so that a full one can be stored within a run even if all its members are new.
 */
const PART_BYTES = 8_000;
/** The bytes of a member in addition to its id and address. */
const MEMBER_OVERHEAD = 20;

/** At least the bytes that a row's member takes in a message. */
export const weightOf = ({ member, email }: Pick<Row, 'member' | 'email'>): number =>
  Buffer.byteLength(JSON.stringify([member, email])) + MEMBER_OVERHEAD;

interface Cutting {
  /** Weight of all rows of a group. */
  readonly weights: (group: string) => number;
  /** Of every event of this import. */
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
  readonly group: string;
  readonly name: string;
  readonly index: number;
  readonly members: { id: string; email?: string }[];
}

/**
 * Cuts rows, sorted by group and member, into events. The number of a group's parts must be in its first
 * part, so it is reckoned from the weight of all its rows: a row belongs to the part in which its last byte lies, and
 * as no row is as long as a part, no part is left out.
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
    if (part?.group !== row.group) {
      weight = 0;
      last = '';
    }
    weight += weightOf(row);
    const index = partOf(weight);
    if (part?.group !== row.group || part.index !== index) {
      if (part !== undefined) yield part;
      part = { group: row.group, name: row.name, index, members: [] };
    }
    if (addsMember(row, last)) part.members.push(memberOf(row));
    last = row.member;
  }
  if (part !== undefined) yield part;
}

/** A line without a member only names the group; a repeated one was found to say the same. */
const addsMember = ({ member }: Row, last: string): boolean => member !== '' && member !== last;

const memberOf = ({ member: id, email }: Row) => (email === '' ? { id } : { id, email });

const partOf = (weight: number): number => Math.floor((weight - 1) / PART_BYTES);

/** How many parts a group of this weight has. */
snapshotsOf.count = (weight: number): number => partOf(weight) + 1;

function eventOf(
  { group, name, index, members }: OpenPart,
  ordinal: number,
  { weights, time, importId, kind }: Cutting,
): string {
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
