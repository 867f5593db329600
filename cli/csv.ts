import { Readable } from 'node:stream';
import { type CsvError, parse } from 'csv-parse';
import { withLineFeeds } from './lines.ts';

/**
 * Maximum length of a record. Without this limit, the parser would read a whole file into one record if a closing quote
 * is missing.
 */
const MAX_RECORD_LENGTH = 65_536;

const NO_SEPARATOR = "expected a separator after a closing quote; to choose the separator: --delimiter ';'";
const PROBLEMS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'expected a field that contains quotes to start with a quote',
  CSV_INVALID_CLOSING_QUOTE: NO_SEPARATOR,
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: NO_SEPARATOR,
  CSV_QUOTE_NOT_CLOSED: 'expected a closing quote before the end of the file',
};
const TOO_LONG = `expected a record of at most ${MAX_RECORD_LENGTH} characters; check for a missing closing quote`;

const NAMES: ReadonlyMap<string, string> = new Map([
  [';', 'semicolons'],
  ['\t', 'tabs'],
]);

/** Excel's line that declares the separator, such as `sep=;`. */
const SEPARATOR_LINE = /^"?sep=(.)"?[,;\t ]*$/i;
/** First line of Entra ID's bulk files, and of files that PowerShell exports. */
const VERSION_LINE = /^(?:"?version:v[\d.]+"?[,;\t ]*|#TYPE .*)$/i;
/** Maximum number of lines before the header. These are a separator line, a version line and empty lines. */
const MAX_PREAMBLE = 10;

export interface CsvOptions {
  /** The separator. If absent, the parser uses the separator of a line `sep=`, or detects the separator. */
  readonly delimiter?: string | undefined;
  readonly skipLines?: number | undefined;
  /** Called if the parser uses a semicolon or a tab that `delimiter` does not name. */
  readonly onRecognised?: (name: string) => void;
}

/**
 * Parses CSV (RFC 4180) from chunks of text. Lines may end in CRLF, LF or CR. Rows with only empty fields are skipped.
 * An unreadable record is returned with its `problem`, and is the last.
 */
export async function* parseCsv(
  chunks: AsyncIterable<string>,
  { delimiter, skipLines = 0, onRecognised }: CsvOptions = {},
) {
  const { head, rest, passed, named } = await withoutPreamble(withLineFeeds(chunks), skipLines);
  const recognised = delimiter ?? named ?? separatorIn(head);
  const name = NAMES.get(recognised);
  if (delimiter === undefined && name !== undefined) onRecognised?.(name);
  const parser = parse({
    delimiter: recognised,
    bom: true,
    info: true,
    max_record_size: MAX_RECORD_LENGTH,
    record_delimiter: '\n',
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  });
  const source = Readable.from(
    (async function* () {
      yield head;
      yield* rest;
    })(),
  );
  source.on('error', (error) => parser.destroy(error));
  try {
    for await (const { record: fields, info } of source.pipe(parser)) {
      const breaks = fields.join('').split('\n').length - 1;
      if (fields.join('').trim() === '') continue;
      yield { line: passed + info.lines - breaks, fields };
    }
  } catch (error) {
    const { code, lines } = error as CsvError & { readonly lines?: number };
    if (lines === undefined) throw error;
    yield { line: passed + lines, fields: [], problem: PROBLEMS[code] ?? TOO_LONG };
  }
}

/**
 * Detects the separator. The first line with a comma, semicolon or tab outside quotes decides, because a title line
 * contains no separator. The separator is the semicolon or the tab if the line contains no other of these characters.
 * Otherwise it is the comma.
 */
function separatorIn(head: string): string {
  const plain = head.trimStart().replace(/"(?:[^"]|"")*"/g, '');
  const line = plain.split('\n', MAX_PREAMBLE).find((one) => /[,;\t]/.test(one)) ?? '';
  const [other, ...more] = line.includes(',') ? [] : [...NAMES.keys()].filter((sign) => line.includes(sign));
  return other === undefined || more.length > 0 ? ',' : other;
}

/** Drops the lines to skip, and the lines before the header that only describe the file's format. */
async function withoutPreamble(text: AsyncGenerator<string>, skipLines: number) {
  let head = '';
  const wanted = skipLines + MAX_PREAMBLE;
  while (head.split('\n').length <= wanted && head.length < MAX_RECORD_LENGTH * (1 + skipLines)) {
    const { value, done } = await text.next();
    if (done === true) break;
    head += value;
  }
  const lines = head.replace(/^\ufeff/, '').split('\n');
  let passed = Math.min(skipLines, lines.length);
  let named: string | undefined;
  for (let line = passed; line < Math.min(wanted, lines.length); line += 1) {
    const content = lines[line] ?? '';
    const separator = SEPARATOR_LINE.exec(content)?.[1];
    named ??= separator;
    if (separator !== undefined || VERSION_LINE.test(content)) passed = line + 1;
    else if (content.trim() !== '') break;
  }
  return { head: lines.slice(passed).join('\n'), rest: text, passed, named };
}
