/** One record of a CSV file, with the line on which it begins (from 1). */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
  /** What is wrong with its form; the fields are then not to be relied on. */
  readonly problem?: string;
}

/** Longest record: a quote that is never closed must not swallow the file. */
const MAX_RECORD_LENGTH = 65_536;
const TOO_LONG = `expected a record of at most ${MAX_RECORD_LENGTH} characters; is a quote not closed?`;

const QUOTED = '"[^"]*(?:""[^"]*)*"';
/** One field and what ends it: quoted, plain, or in no good form. */
const FIELD = new RegExp(
  `(?:(${QUOTED})|([^",\\r\\n]*)|(${QUOTED}[^",\\r\\n][^,\\r\\n]*|[^",\\r\\n][^,\\r\\n]*))(,|\\r\\n?|\\n)`,
  'y',
);

/**
 * Reads CSV as RFC 4180 has it, from text that comes in chunks, one record at a time: quoted fields may hold commas,
 * line breaks and doubled quotes. Lines may end in CRLF, LF or CR; empty lines and a byte order mark are passed over.
 */
export async function* parseCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  let text = '';
  let line = 1;
  let isFirst = true;
  function* wholeRecords(isEnd: boolean): Generator<CsvRecord> {
    let from = 0;
    while (from < text.length) {
      const read = readRecord(text, from, isEnd);
      if (read === undefined) break;
      const raw = text.slice(from, read.end);
      const { fields, problem } =
        raw.length > MAX_RECORD_LENGTH + 2 ? { fields: [], problem: TOO_LONG } : read;
      if (!/^[\r\n]+$/.test(raw)) yield { line, fields, ...(problem === undefined ? {} : { problem }) };
      line += raw.match(/\r\n?|\n/g)?.length ?? 0;
      from = read.end;
    }
    text = text.slice(from);
  }
  for await (const chunk of chunks) {
    text += isFirst ? chunk.replace(/^\uFEFF/, '') : chunk;
    isFirst = false;
    yield* wholeRecords(false);
  }
  if (text !== '') text += '\n';
  yield* wholeRecords(true);
}

/** @returns undefined where the record may go on in the next chunk */
function readRecord(text: string, from: number, isEnd: boolean) {
  const fields: string[] = [];
  let problem: string | undefined;
  FIELD.lastIndex = from;
  for (let found = FIELD.exec(text); found !== null; found = FIELD.exec(text)) {
    const [, quoted, plain, odd = '', end] = found;
    fields.push(quoted === undefined ? (plain ?? odd) : quoted.slice(1, -1).replaceAll('""', '"'));
    if (odd.startsWith('"')) problem ??= 'expected a comma behind a closing quote';
    else if (odd !== '') problem ??= 'expected a field with quotes in it to begin with one';
    if (end === ',') continue;
    const isCut = end === '\r' && FIELD.lastIndex === text.length && !isEnd;
    return isCut ? undefined : { fields, problem, end: FIELD.lastIndex };
  }
  if (isEnd) {
    problem ??= 'expected a closing quote before the end of the file';
    return { fields, problem, end: text.length };
  }
  const longest = from + MAX_RECORD_LENGTH + 1;
  return text.length > longest ? { fields, problem: TOO_LONG, end: longest } : undefined;
}
