import { badRequest } from '../errors.ts';
import type { Literal } from './filter.ts';

export type Token =
  | { readonly kind: '(' | ')' | '[' | ']' }
  /** A path, an operator or a keyword: which one, its place tells. */
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'literal'; readonly value: Literal };

/** Longest filter or path: far above what clients send, far below what could hurt. */
export const MAX_FILTER_LENGTH = 8_192;

const TOKEN = /\s*(?:([()[\]])|("(?:[^"\\]|\\.)*")|([^\s()[\]"]+))/suy;
/** As JSON writes it: 01 is none. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * Cuts a filter into tokens.
 * @throws ScimError invalidFilter
 */
export function tokenise(text: string): readonly Token[] {
  if (text.length > MAX_FILTER_LENGTH) {
    throw badRequest('invalidFilter', `expected a filter of at most ${MAX_FILTER_LENGTH} characters`);
  }
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  let at = 0;
  while (at < end) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (found === null)
      throw badRequest('invalidFilter', `expected the end of a string begun before character ${end}`);
    at = TOKEN.lastIndex;
    tokens.push(tokenOf(found));
  }
  return tokens;
}

function tokenOf([, bracket, quoted, word = '']: RegExpExecArray): Token {
  if (bracket !== undefined) return { kind: bracket as '(' | ')' | '[' | ']' };
  if (quoted !== undefined) return { kind: 'literal', value: unquote(quoted) };
  // Literals are JSON (RFC 7644 section 3.4.2.2); some clients write True and False.
  const folded = word.toLowerCase();
  if (folded === 'true' || folded === 'false') return { kind: 'literal', value: folded === 'true' };
  if (folded === 'null') return { kind: 'literal', value: null };
  if (NUMBER.test(word)) return { kind: 'literal', value: Number(word) };
  return { kind: 'word', text: word };
}

/** A string as JSON writes it, with \" \\ \n \u and their kind. */
function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw badRequest('invalidFilter', 'expected a string with the escapes of JSON');
  }
}
