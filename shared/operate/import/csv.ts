/** One record of a CSV file, with the line on which it begins (from 1). */
export interface CsvRecord {
  readonly line: number;
  readonly fields: readonly string[];
  /** What is wrong with its form; the fields are then not to be relied on. */
  readonly problem?: string;
}

/** Longest record: a quote that is never closed must not swallow the file. */
const MAX_RECORD_LENGTH = 65_536;

/**
 * Reads CSV as RFC 4180 has it, from text that comes in chunks, one record at a time: quoted fields may hold commas,
 * line breaks and doubled quotes. Lines may end in CRLF, LF or CR; empty lines and a byte order mark are passed over.
 */
export async function* parseCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const reader = createReader();
  let isFirst = true;
  for await (const chunk of chunks) {
    yield* reader.read(isFirst ? chunk.replace(/^\uFEFF/, '') : chunk);
    isFirst = false;
  }
  yield* reader.end();
}

/** plain: in an unquoted field; quoted: within quotes; closed: behind a closing quote, or a first of two. */
type Mode = 'start' | 'plain' | 'quoted' | 'closed';

function createReader() {
  let mode: Mode = 'start';
  let fields: string[] = [];
  let field = '';
  let length = 0;
  let line = 1;
  let startLine = 1;
  let problem: string | undefined;
  let afterCr = false;

  const endField = () => {
    fields.push(field);
    field = '';
    mode = 'start';
  };
  const endRecord = (): CsvRecord | undefined => {
    endField();
    const isEmpty = fields.length === 1 && fields[0] === '' && problem === undefined && length === 0;
    const record = { line: startLine, fields, ...(problem === undefined ? {} : { problem }) };
    fields = [];
    length = 0;
    problem = undefined;
    startLine = line;
    return isEmpty ? undefined : record;
  };

  const takeQuoted = (character: string): void => {
    if (character === '"') mode = 'closed';
    else field += character;
  };
  const takePlain = (character: string): void => {
    if (character === '"' && mode !== 'plain') {
      if (mode === 'closed') field += '"';
      mode = 'quoted';
      return;
    }
    if (mode === 'closed') problem ??= 'expected a comma behind a closing quote';
    else if (character === '"') problem ??= 'expected a field with quotes in it to begin with one';
    else mode = 'plain';
    field += character;
  };
  const take = (character: string): CsvRecord | undefined => {
    const isSecondOfTwo = afterCr && character === '\n';
    const isBreak = character === '\n' || character === '\r';
    afterCr = character === '\r';
    if (isBreak && !isSecondOfTwo) line += 1;
    if (isBreak && mode !== 'quoted') {
      if (isSecondOfTwo) startLine = line;
      return isSecondOfTwo ? undefined : endRecord();
    }
    length += 1;
    if (mode === 'quoted') takeQuoted(character);
    else if (character === ',') endField();
    else takePlain(character);
    if (length <= MAX_RECORD_LENGTH) return undefined;
    problem = `expected a record of at most ${MAX_RECORD_LENGTH} characters; is a quote not closed?`;
    return endRecord();
  };

  return {
    *read(chunk: string): Generator<CsvRecord> {
      for (const character of chunk) {
        const record = take(character);
        if (record !== undefined) yield record;
      }
    },
    *end(): Generator<CsvRecord> {
      if (mode === 'quoted') problem ??= 'expected a closing quote before the end of the file';
      if (length > 0) {
        const record = endRecord();
        if (record !== undefined) yield record;
      }
    },
  };
}
