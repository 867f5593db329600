import { asBoolean } from '../attribute.ts';
import { badRequest } from '../errors.ts';
import { type AttributePath, parseAttributePath } from '../resource-type.ts';
import { COMPARISONS, type Comparison, type Filter, type Literal } from './evaluate.ts';

/** Maximum nesting of parentheses, brackets and `not`. It limits the recursion of the parser and of the evaluator. */
const MAX_FILTER_DEPTH = 32;

export interface PatchPath {
  readonly path: AttributePath;
  readonly where: Filter | undefined;
}

/**
 * Parses a filter by recursive descent.
 *
 *     filter  = all *("or" all)
 *     all     = unary *("and" unary)
 *     unary   = "not" unary / "(" filter ")" / path "pr" / path operator literal / path "[" filter "]" [ "." part … ]
 *
 * @throws ScimError invalidFilter
 */
export function parseFilter(text: string): Filter {
  const reader = new Reader(tokenise(text));
  const filter = readOr(reader, 0);
  reader.expectEnd();
  return filter;
}

/**
 * Parses the path of a PATCH operation: `attribute`, `attribute[filter]` or `attribute[filter].part`.
 * @throws ScimError invalidPath
 */
export function parsePatchPath(text: string): PatchPath {
  try {
    const reader = new Reader(tokenise(text));
    const path = reader.path();
    if (!reader.take('[')) {
      reader.expectEnd();
      return { path, where: undefined };
    }
    const where = readWhere(reader, 1);
    const sub = reader.atEnd() ? undefined : readPart(reader);
    reader.expectEnd();
    return { path: { ...path, sub: sub ?? path.sub }, where };
  } catch {
    throw badRequest(
      'invalidPath',
      'expected a path such as displayName, name.givenName or emails[type eq "work"].value',
    );
  }
}

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  atEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  /** Consumes the next token if it is this bracket or keyword. A string never matches, because its token has quotes. */
  take(text: string): boolean {
    const taken = this.#tokens[this.#at]?.toLowerCase() === text;
    if (taken) this.#at += 1;
    return taken;
  }

  expect(text: ')' | ']'): void {
    if (!this.take(text)) throw this.#expected(`"${text}"`);
  }

  isAtPart(): boolean {
    return this.#tokens[this.#at]?.startsWith('.') ?? false;
  }

  token(what: string): string {
    const token = this.#tokens[this.#at] ?? '';
    if (/^[()[\]]?$/.test(token) || literalOf(token) !== undefined) throw this.#expected(what);
    this.#at += 1;
    return token;
  }

  literal(): Literal {
    const value = literalOf(this.#tokens[this.#at] ?? '');
    if (value === undefined) throw this.#expected('a string, a number, true, false or null');
    this.#at += 1;
    return value;
  }

  path(): AttributePath {
    const path = parseAttributePath(this.token('the name of an attribute'));
    if (path === undefined) throw this.#expected('the name of an attribute');
    return path;
  }

  comparison(): Comparison {
    const token = this.token('an operator').toLowerCase();
    const found = COMPARISONS.find((operator) => operator === token);
    if (found === undefined) throw this.#expected('one of the operators eq ne co sw ew gt ge lt le pr');
    return found;
  }

  expectEnd(): void {
    if (!this.atEnd()) throw this.#expected('the end');
  }

  #expected(what: string) {
    return badRequest('invalidFilter', `expected ${what} as token ${this.#at + 1} of the filter`);
  }
}

const readOr = (reader: Reader, depth: number): Filter =>
  readJoined(reader, 'or', () => readJoined(reader, 'and', () => readUnary(reader, depth)));

function readJoined(reader: Reader, kind: 'or' | 'and', readPart: () => Filter): Filter {
  const first = readPart();
  const of = [first];
  while (reader.take(kind)) of.push(readPart());
  return of.length === 1 ? first : { kind, of };
}

function readUnary(reader: Reader, depth: number): Filter {
  if (depth > MAX_FILTER_DEPTH) {
    throw badRequest('invalidFilter', `expected a filter nested at most ${MAX_FILTER_DEPTH} levels deep`);
  }
  if (reader.take('(')) {
    const inner = readOr(reader, depth + 1);
    reader.expect(')');
    return inner;
  }
  if (reader.take('not')) return { kind: 'not', of: readUnary(reader, depth + 1) };
  const path = reader.path();
  if (!reader.take('[')) return readExpression(reader, path);
  const where = readWhere(reader, depth + 1);
  return { kind: 'element', path, where: withPart(reader, where) };
}

/**
 * Reads the filter after "[", and the closing bracket. The grammar (`valFilter`) allows no brackets within brackets.
 */
function readWhere(reader: Reader, depth: number): Filter {
  const where = readOr(reader, depth);
  reader.expect(']');
  if (hasElement(where)) throw badRequest('invalidFilter', 'expected no brackets within brackets');
  return where;
}

function hasElement(filter: Filter): boolean {
  if (filter.kind === 'not') return hasElement(filter.of);
  return filter.kind === 'and' || filter.kind === 'or'
    ? filter.of.some(hasElement)
    : filter.kind === 'element';
}

function readExpression(reader: Reader, path: AttributePath): Filter {
  if (reader.take('pr')) return { kind: 'present', path };
  return { kind: 'compare', path, operator: reader.comparison(), value: reader.literal() };
}

/**
 * `emails[type eq "work"].value eq "x"` is not in the grammar, but clients send it. One value must satisfy both parts.
 */
function withPart(reader: Reader, where: Filter): Filter {
  if (!reader.isAtPart()) return where;
  const path = { schema: undefined, name: readPart(reader), sub: undefined };
  return { kind: 'and', of: [where, readExpression(reader, path)] };
}

function readPart(reader: Reader): string {
  const token = reader.token('a sub-attribute');
  const path = token.startsWith('.') ? parseAttributePath(token.slice(1)) : undefined;
  if (path === undefined || path.sub !== undefined || path.schema !== undefined) {
    throw badRequest('invalidFilter', 'expected a sub-attribute such as .value');
  }
  return path.name;
}

/** Maximum length of a filter or path. Filters of clients are far shorter, and parsing this length is fast. */
const MAX_FILTER_LENGTH = 8_192;

/** A token: a bracket, a string or a word. Whether a word is a path, an operator or a value depends on its position. */
const TOKEN = /\s*([()[\]]|"(?:[^"\\]|\\.)*"|[^\s()[\]"]+)/suy;
/** A number in JSON syntax. For example, 01 is not a number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** Splits a filter into tokens. @throws ScimError invalidFilter */
function tokenise(text: string): readonly string[] {
  if (text.length > MAX_FILTER_LENGTH) {
    throw badRequest('invalidFilter', `expected a filter of at most ${MAX_FILTER_LENGTH} characters`);
  }
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null)
      throw badRequest('invalidFilter', `expected a closing quotation mark before character ${end}`);
    at = TOKEN.lastIndex;
    tokens.push(found[1] ?? '');
  }
  return tokens;
}

/** Literals are JSON (RFC 7644 section 3.4.2.2), but some clients send True and False. */
function literalOf(token: string): Literal | undefined {
  if (token.startsWith('"')) return unquote(token);
  if (token.toLowerCase() === 'null') return null;
  return NUMBER.test(token) ? Number(token) : asBoolean(token);
}

/** Parses a string in JSON syntax, with escapes such as \" \\ \n \u. */
function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw badRequest('invalidFilter', 'expected a string with the escapes of JSON');
  }
}
