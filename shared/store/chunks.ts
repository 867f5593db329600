import { createHash } from 'node:crypto';
import pMap from 'p-map';
import { type Item, itemsOf, type Key, type Table } from './table.ts';

/** An item may have 400 KB, including its keys and the names of its attributes (Amazon DynamoDB quotas). */
const MAX_CHUNK_BYTES = 350_000;
/** The number of chunks that are written or deleted at a time. They fill two BatchWriteItem requests of nearly 9 MB. */
export const IN_FLIGHT = 50;

interface Chunked {
  readonly chunks: number;
  /** The SHA-256 of all chunks in hex. If a reader computes another hash, it has read an incomplete or a wrong set. */
  readonly hash: string;
}

/**
 * Packs lines into texts of at most `MAX_CHUNK_BYTES`. A longer line is a text of its own. Returns at least one text.
 */
function packLines(lines: Iterable<string>): readonly string[] {
  const texts: string[][] = [[]];
  let bytes = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    if (bytes > 0 && bytes + size > MAX_CHUNK_BYTES) {
      texts.push([]);
      bytes = 0;
    }
    texts.at(-1)?.push(line);
    bytes += size;
  }
  return texts.map((some) => some.join('\n'));
}

export async function writeChunks(
  table: Table,
  keyOf: (index: number) => Key,
  lines: Iterable<string>,
  extra: { readonly [name: string]: number } = {},
): Promise<Chunked> {
  const texts = packLines(lines);
  const put = (text: string, index: number) => table.put({ ...keyOf(index), ...extra, text });
  await pMap(texts, put, { concurrency: IN_FLIGHT });
  return { chunks: texts.length, hash: hashOf(texts) };
}

/** @returns the lines; undefined if a chunk is missing or differs from the written chunk */
export async function readChunks(
  table: Pick<Table, 'getMany'>,
  keyOf: (index: number) => Key,
  { chunks, hash }: Chunked,
): Promise<readonly string[] | undefined> {
  const keys = Array.from({ length: chunks }, (_, index) => keyOf(index));
  const bySort = new Map((await table.getMany(keys)).map((item: Item) => [item.sk, item['text']]));
  const texts = keys.map(({ sk }) => bySort.get(sk));
  if (!texts.every((text) => typeof text === 'string') || hashOf(texts) !== hash) return undefined;
  return texts.flatMap(linesOf);
}

/** Returns the lines of a text. An empty list is stored as one empty text, and no text has only one empty line. */
const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));

/** Reads the lines of a set whose number of chunks is unknown. `sk` is the key of the first chunk. */
export async function findLines(table: Table, { pk, sk }: Key): Promise<readonly string[]> {
  const prefix = sk.slice(0, sk.lastIndexOf('#') + 1);
  return (await itemsOf(table, { partition: pk, prefix })).flatMap(({ text }) => linesOf(String(text)));
}

function hashOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\0');
  return hash.digest('hex');
}
