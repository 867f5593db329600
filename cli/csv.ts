import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { withLineFeeds } from './lines.ts';

/** Longest record: a quote that is never closed must not swallow the file. */
const MAX_RECORD_LENGTH = 65_536;

const PROBLEMS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'expected a field with quotes in it to begin with one',
  CSV_INVALID_CLOSING_QUOTE: "expected a separator behind a closing quote; --delimiter ';' says which it is",
  CSV_QUOTE_NOT_CLOSED: 'expected a closing quote before the end of the file',
};
const TOO_LONG = `expected a record of at most ${MAX_RECORD_LENGTH} characters; is a quote not closed?`;

const OTHERS = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
] as const;

export interface Separated {
  /** Without it: semicolons or tabs where these alone stand in the first line outside quotes, else commas. */
  readonly delimiter?: string | undefined;
  /** Told of a separator that was recognised. */
  readonly onRecognised?: (name: string) => void;
}

/** Reads CSV as RFC 4180 has it, from text that comes in chunks. Lines may end in CRLF, LF or CR. */
export async function* parseCsv(chunks: AsyncIterable<string>, { delimiter, onRecognised }: Separated = {}) {
  const text = withLineFeeds(chunks);
  let head = '';
  while (!head.trimStart().includes('\n') && head.length < MAX_RECORD_LENGTH) {
    const { value, done } = await text.next();
    if (done === true) break;
    head += value;
  }
  const plain = (head.trimStart().split('\n')[0] ?? '').replace(/"(?:[^"]|"")*"/g, '');
  const [other, ...more] = plain.includes(',') ? [] : OTHERS.filter(([sign]) => plain.includes(sign));
  const recognised = delimiter === undefined && more.length === 0 ? other : undefined;
  if (recognised !== undefined) onRecognised?.(recognised[1]);
  const parser = parse({
    delimiter: delimiter ?? recognised?.[0] ?? ',',
    bom: true,
    info: true,
    max_record_size: MAX_RECORD_LENGTH,
    record_delimiter: '\n',
    relax_column_count: true,
    skip_empty_lines: true,
  });
  const source = Readable.from(
    (async function* () {
      yield head;
      yield* text;
    })(),
  );
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record: fields, info } of source.pipe(parser)) {
      const breaks = fields.join('').split('\n').length - 1;
      yield { line: info.lines - breaks, fields };
    }
  } catch (error) {
    const { code, lines } = error as CsvError & { readonly lines?: number };
    if (lines === undefined) throw error;
    yield { line: lines, fields: [], problem: PROBLEMS[code] ?? TOO_LONG };
  }
}
