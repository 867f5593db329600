import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { type Io, Stopped, UsageError } from './io.ts';

/**
 * Decodes a UTF-8 file in chunks. @throws UsageError for another encoding or a file that cannot be opened, Stopped at
 * Ctrl-C
 */
export async function* utf8Chunks(io: Io, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of bytesOf(io, file)) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (cause) {
    if (cause instanceof TypeError)
      throw new UsageError(`${file} is not UTF-8; save it as UTF-8 first`, { cause });
    throw cause;
  }
}

interface Decoding {
  /** Called once with the encoding, if it is not UTF-8. */
  readonly onRecognised: (encoding: string) => void;
}

/**
 * Decodes a file of a spreadsheet or an exporter: UTF-8, UTF-16 of either byte order, or Windows-1252 (a superset of
 * Latin-1). If all valid characters up to the end of the chunk with the first invalid byte are ASCII, the rest of the
 * file is read as Windows-1252. Otherwise the file counts as damaged UTF-8.
 * @throws UsageError for damaged UTF-8, another format or a file that cannot be opened, Stopped at Ctrl-C
 */
export async function* textChunks(io: Io, file: string, { onRecognised }: Decoding): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let isAscii = true;
  for await (const chunk of bytesOf(io, file)) {
    decoder ??= decoderFor(file, chunk, onRecognised);
    const text = decoded(decoder, chunk);
    if (text !== undefined) {
      isAscii &&= isPlain(text);
      yield text;
      continue;
    }
    if (!isAscii || !isPlain(new TextDecoder().decode(chunk).replaceAll('\ufffd', ''))) throw damaged(file);
    onRecognised('Windows-1252 (Latin-1)');
    decoder = new TextDecoder('windows-1252');
    yield decoder.decode(chunk, { stream: true });
  }
  const rest = decoder === undefined ? '' : decoded(decoder);
  if (rest === undefined) throw damaged(file);
  yield rest;
}

/**
 * Returns the decoder for a file that starts with this chunk. UTF-8 is decoded strictly, because the file may be
 * Windows-1252.
 */
function decoderFor(file: string, chunk: Uint8Array, onRecognised: Decoding['onRecognised']): TextDecoder {
  refuseOther(file, chunk);
  const encoding = encodingOf(chunk);
  const isUtf8 = encoding === 'utf-8';
  if (!isUtf8) onRecognised(encoding.toUpperCase());
  return new TextDecoder(encoding, { fatal: isUtf8 });
}

const WORKBOOK = 'an Excel workbook; save it as "CSV UTF-8"';
/** Formats that are not CSV, by their first bytes (hexadecimal) or by their text. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ['504b0304', WORKBOOK],
  ['d0cf11e0', WORKBOOK],
  ['1f8b', 'a compressed file; unpack it first'],
];
const OTHER_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^\ufeff?\s*[[{]\s*["[{]/, 'JSON'],
  [
    /^\ufeff?\s*<(?:!doctype|html|\?xml)/i,
    'a web page or XML; check that you were signed in for the download',
  ],
];
const BEGINNING = 64;

/** @throws UsageError for a file that is certainly not CSV */
function refuseOther(file: string, chunk: Uint8Array): void {
  const beginning = Buffer.from(chunk.subarray(0, BEGINNING));
  const hex = beginning.toString('hex');
  const [, what] =
    SIGNATURES.find(([signature]) => hex.startsWith(signature)) ??
    OTHER_TEXTS.find(([format]) => format.test(beginning.toString())) ??
    [];
  if (what !== undefined) throw new UsageError(`${file}: expected CSV, got ${what}`);
}

const damaged = (file: string) =>
  new UsageError(
    `${file}: expected UTF-8, UTF-16 or Windows-1252, got UTF-8 with damaged characters; export it again`,
  );

/** @returns undefined if a strict decoder finds bytes that are not UTF-8 */
function decoded(decoder: TextDecoder, chunk?: Uint8Array): string | undefined {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    return undefined;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them
const isPlain = (text: string): boolean => /^[\u0000-\u007f]*$/.test(text);

/**
 * Detects the encoding by the byte order mark. Without one, a zero in the first two bytes shows UTF-16 text that
 * starts with an ASCII character.
 */
function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  return 'utf-8';
}

async function* bytesOf(io: Io, file: string): AsyncGenerator<Uint8Array> {
  const input = addAbortSignal(io.signal, await openFile(io, file));
  try {
    for await (const chunk of input) yield typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Buffer);
  } catch (cause) {
    if (io.signal.aborted) throw new Stopped();
    throw cause;
  }
}

async function openFile(io: Io, file: string): Promise<Readable> {
  if (file === '-') return io.stdin;
  try {
    const handle = await open(resolve(io.cwd, file));
    if ((await handle.stat()).isFile()) return handle.createReadStream();
    await handle.close();
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new UsageError(isMissing ? `there is no file ${file}` : `${file}: ${(cause as Error).message}`, {
      cause,
    });
  }
  throw new UsageError(`${file} is not a file`);
}
