/** An attribute of a filter: its operators, and the function that returns its values in an item. */
interface FilterField<T> {
  readonly operators: readonly Operator[];
  valuesOf(item: T): readonly (string | null)[];
  /** If true, the values are compared as times, and not as text. */
  readonly isTime?: boolean;
}

const OPERATORS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
type Operator = (typeof OPERATORS)[number];
export type FilterFields<T> = Readonly<Record<string, FilterField<T>>>;

/** The error for an expression that is invalid or contains an unsupported attribute or operator. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

type Test<T> = (item: T) => boolean;

const TOKEN = /\s*(?:(\()|(\))|"((?:[^"\\]|\\.)*)"|([\w.]+))/y;
interface Token {
  readonly kind: '(' | ')' | 'text' | 'word';
  readonly value: string;
}

/**
 * Returns the test of a filter expression: comparisons with `and`, `or` and parentheses. `and` has precedence over `or`
 * (RFC 7644, section 3.4.2.2). `not`, `pr` and `[]` are not supported.
 * @throws {FilterError}
 */
export function filterFor<T>(text: string, fields: FilterFields<T>): Test<T> {
  const tokens = tokensOf(text);
  const test = parseOr(tokens, fields);
  const rest = tokens.shift();
  if (rest !== undefined) throw new FilterError(`Unexpected '${rest.value}'`);
  return test;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const [, opens, closes, quoted, word] = TOKEN.exec(text) ?? [];
    if (opens !== undefined) tokens.push({ kind: '(', value: opens });
    else if (closes !== undefined) tokens.push({ kind: ')', value: closes });
    else if (quoted !== undefined) tokens.push({ kind: 'text', value: quoted.replaceAll(/\\(.)/g, '$1') });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word });
    else throw new FilterError(`Unrecognized text at position ${at}`);
  }
  return tokens;
}

function parseOr<T>(tokens: Token[], fields: FilterFields<T>): Test<T> {
  const tests = [parseAnd(tokens, fields)];
  while (takeWord(tokens, 'or')) tests.push(parseAnd(tokens, fields));
  return (item) => tests.some((test) => test(item));
}

function parseAnd<T>(tokens: Token[], fields: FilterFields<T>): Test<T> {
  const tests = [parseTerm(tokens, fields)];
  while (takeWord(tokens, 'and')) tests.push(parseTerm(tokens, fields));
  return (item) => tests.every((test) => test(item));
}

function takeWord(tokens: Token[], word: string): boolean {
  const [next] = tokens;
  if (next?.kind !== 'word' || next.value.toLowerCase() !== word) return false;
  tokens.shift();
  return true;
}

function parseTerm<T>(tokens: Token[], fields: FilterFields<T>): Test<T> {
  const first = tokens.shift();
  if (first?.kind === '(') {
    const test = parseOr(tokens, fields);
    if (tokens.shift()?.kind !== ')') throw new FilterError("Expected ')'");
    return test;
  }
  const operator = tokens.shift()?.value ?? '';
  const value = tokens.shift();
  if (first?.kind !== 'word' || value?.kind !== 'text') {
    throw new FilterError('Expected attribute, operator and a value in quotation marks');
  }
  return comparison(first.value, operator.toLowerCase(), value.value, fields);
}

function comparison<T>(name: string, operator: string, wanted: string, fields: FilterFields<T>): Test<T> {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) throw new FilterError(`field is not valid: ${name}`);
  const known = OPERATORS.find((one) => one === operator);
  if (known === undefined || !field.operators.includes(known)) {
    throw new FilterError(
      `Unrecognized attribute operator '${operator}'. Expected: ${field.operators.join(',')}`,
    );
  }
  const compared = field.isTime === true ? timeOf(wanted) : wanted;
  const compare = COMPARE[known];
  return (item) => {
    const values = field.valuesOf(item).flatMap((value) => value ?? []);
    const matches = values.map((value) => compare(field.isTime === true ? timeOf(value) : value, compared));
    return known === 'ne' ? matches.every(Boolean) : matches.some(Boolean);
  };
}

type Comparable = string | number;
const COMPARE: Readonly<Record<Operator, (value: Comparable, wanted: Comparable) => boolean>> = {
  eq: (value, wanted) => value === wanted,
  ne: (value, wanted) => value !== wanted,
  co: (value, wanted) => String(value).includes(String(wanted)),
  sw: (value, wanted) => String(value).startsWith(String(wanted)),
  ew: (value, wanted) => String(value).endsWith(String(wanted)),
  gt: (value, wanted) => value > wanted,
  ge: (value, wanted) => value >= wanted,
  lt: (value, wanted) => value < wanted,
  le: (value, wanted) => value <= wanted,
};

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?(?:Z|[+-]\d{2}:\d{2})$/;

/** @throws {FilterError} for text that is not an ISO 8601 time */
export function timeOf(text: string): number {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new FilterError(`Expected a date in the format yyyy-MM-dd'T'HH:mm:ss.SSSZ, got '${text}'`);
  return ms;
}
