import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { type PlatformErrorFacts, UnexpectedBodyError } from './errors.ts';

/** What we ask for in `Accept-Encoding`, and can undo. */
export const ACCEPTED_ENCODINGS = 'gzip, br';

type Undo = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECOMPRESS: ReadonlyMap<string, Undo> = new Map([
  ['gzip', promisify(gunzip) as Undo],
  ['x-gzip', promisify(gunzip) as Undo],
  ['deflate', promisify(inflate) as Undo],
  ['br', promisify(brotliDecompress) as Undo],
]);

export interface BodyLimit {
  /** Bytes, before and after decompression. */
  readonly max: number;
  /** True: more than `max` is an error. False: the rest is dropped (an error's excerpt needs only the beginning). */
  readonly whole: boolean;
}

/**
 * Reads an answer as UTF-8 text, never holding more than `limit.max` bytes.
 * @throws UnexpectedBodyError where it is larger, wrongly compressed, or no UTF-8 (only where the whole is wanted).
 */
export async function readBody(
  body: Readable,
  headers: Readonly<Record<string, string | undefined>>,
  limit: BodyLimit,
  facts: PlatformErrorFacts,
): Promise<string> {
  const bytes = await collect(body, limit, facts);
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const plain =
    encoding === 'identity' || bytes.length === 0 ? bytes : await decompress(bytes, encoding, limit, facts);
  try {
    return new TextDecoder('utf-8', { fatal: limit.whole }).decode(plain);
  } catch {
    throw new UnexpectedBodyError('expected UTF-8 text', facts);
  }
}

async function collect(body: Readable, limit: BodyLimit, facts: PlatformErrorFacts): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop early destroys the stream, and with it the connection: the rest is never read.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > limit.max) {
      if (limit.whole) throw tooLarge(limit, facts);
      break;
    }
  }
  return Buffer.concat(chunks, Math.min(size, limit.max));
}

async function decompress(bytes: Buffer, encoding: string, limit: BodyLimit, facts: PlatformErrorFacts) {
  const undo = DECOMPRESS.get(encoding);
  try {
    if (undo === undefined) throw new TypeError('unknown content encoding');
    return await undo(bytes, { maxOutputLength: limit.max });
  } catch (cause) {
    if (!limit.whole) return Buffer.alloc(0);
    if (cause instanceof RangeError) throw tooLarge(limit, facts);
    throw new UnexpectedBodyError(`expected a body that is identity, ${ACCEPTED_ENCODINGS} encoded`, facts);
  }
}

function tooLarge(limit: BodyLimit, facts: PlatformErrorFacts) {
  return new UnexpectedBodyError(`expected at most ${limit.max} bytes`, facts);
}
