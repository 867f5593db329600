import { parsedUrl } from './url.ts';

/**
 * Returns the form in which groupsync compares e-mail addresses. The steps give all spellings of one mailbox the same
 * form:
 *
 *   step                    | example                              | source
 *   ------------------------|--------------------------------------|-------------------------------------
 *   trim, invisible signs   | "\u200bann@acme.example " → "ann@…"  | Unicode general category Cf
 *   compose                 | "u" + diaeresis → "ü"                | Unicode normalization form C
 *   fold case               | "JÜRGEN@…" → "jürgen@…"              | Unicode simple case folding
 *   domain to ASCII         | "…@münchen.example" → "…@xn--…"      | IDNA (UTS #46, non-transitional)
 *   dot of the root         | "…@acme.example." → "…@acme.example" | DNS (RFC 1034, section 3.1)
 *
 * Simple folding makes two characters equal only if case is their only difference: "ß" is not "ss", "ı" is not "i". If
 * the addresses of two employees have the same form, the address is ambiguous, and groupsync adds neither employee.
 */
export function addressForm(text: string): string {
  const folded = foldCase(visibleText(text).normalize('NFC')).normalize('NFC');
  const at = folded.lastIndexOf('@');
  return at < 0 ? folded : `${folded.slice(0, at)}@${asciiDomain(folded.slice(at + 1))}`;
}

/** Returns the text without the white space and the invisible characters around it. */
export const visibleText = (text: string): string => text.replace(INVISIBLE_ENDS, '');

/** Returns the address that a login or display name consists of; undefined for any other text. */
export function addressIn(text: string): string | undefined {
  const visible = visibleText(text);
  return looksLikeAddress(visible) ? visible : undefined;
}

/** Whether a text looks like an address, and not like a login or a name. The address need not be valid. */
export const looksLikeAddress = (text: string): boolean => {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && at < text.length - 1 && !/\s/.test(text);
};

const INVISIBLE_ENDS = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;

/** Unicode simple case folding (CaseFolding.txt, status C and S), character by character. */
const foldCase = (text: string): string => Array.from(text, foldCharacter).join('');

/** The dotless i has the same upper case as "i", but case folding treats them as two characters. */
const DOTLESS_I = 'ı';

function foldCharacter(character: string): string {
  const lower = character.toLowerCase();
  const upper = lower.toUpperCase();
  const isOne = Array.from(upper).length === 1 && lower !== DOTLESS_I;
  // The conversion to upper case and back unifies variants of a character, such as final sigma and long s.
  return isOne ? upper.toLowerCase() : lower;
}

/** The characters of a domain name before its conversion to ASCII. No such character separates two parts of a URL. */
const DOMAIN = /^[\p{L}\p{M}\p{N}.\-\u00b7\u200c-\u200d\u3002\uff0e\uff61]+$/u;
/** The URL parser would read a domain name with this end as an IPv4 address. */
const NUMERIC_END = /(?:^|[.\u3002\uff0e\uff61])(?:\p{N}+|0x[0-9a-f]*)[.\u3002\uff0e\uff61]?$/u;

const ROOT_DOT = /(?<=[^.])\.$/;

function asciiDomain(domain: string): string {
  const isName = DOMAIN.test(domain) && !NUMERIC_END.test(domain);
  const url = isName ? parsedUrl(`http://${domain}`) : undefined;
  return url === undefined ? domain : url.hostname.replace(ROOT_DOT, '');
}
