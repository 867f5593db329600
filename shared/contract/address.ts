import { parsedUrl } from './url.ts';

/**
 * An e-mail address in the form that is compared, so that one mailbox has one form however it is written:
 *
 *   step                    | example                              | source
 *   ------------------------|--------------------------------------|-------------------------------------
 *   trim, invisible signs   | "\u200bann@acme.example " → "ann@…"  | Unicode general category Cf
 *   compose                 | "u" + diaeresis → "ü"                | Unicode normalization form C
 *   fold case               | "JÜRGEN@…" → "jürgen@…"              | Unicode simple case folding
 *   domain to ASCII         | "…@münchen.example" → "…@xn--…"      | IDNA (UTS #46, non-transitional)
 *   dot of the root         | "…@acme.example." → "…@acme.example" | DNS (RFC 1034, section 3.1)
 *
 * Simple folding unites only characters that differ in case alone: "ß" is not "ss", "ı" is not "i". Two employees with one
 * form are ambiguous, so neither is written.
 */
export function addressForm(text: string): string {
  const folded = foldCase(text.replace(INVISIBLE_ENDS, '').normalize('NFC')).normalize('NFC');
  const at = folded.lastIndexOf('@');
  return at < 0 ? folded : `${folded.slice(0, at)}@${asciiDomain(folded.slice(at + 1))}`;
}

/** Whether a text is an address rather than a login or a name; not a judgement of its validity. */
export const looksLikeAddress = (text: string): boolean => {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && at < text.length - 1 && !/\s/.test(text);
};

const INVISIBLE_ENDS = /^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu;

/** Unicode simple case folding (CaseFolding.txt, status C and S), character by character. */
const foldCase = (text: string): string => Array.from(text, foldCharacter).join('');

/** Its upper case is that of "i", but no folding makes the two one. */
const DOTLESS_I = 'ı';

function foldCharacter(character: string): string {
  const lower = character.toLowerCase();
  const upper = lower.toUpperCase();
  const isOne = Array.from(upper).length === 1 && lower !== DOTLESS_I;
  // The detour over the upper case unites the forms of one character: final sigma, long s.
  return isOne ? upper.toLowerCase() : lower;
}

/** Characters that a domain name may have before it is made ASCII: nothing that a URL takes for another of its parts. */
const DOMAIN = /^[\p{L}\p{M}\p{N}.\-\u00b7\u200c-\u200d\u3002\uff0e\uff61]+$/u;
/** A URL takes a name that ends so for an IPv4 address. */
const NUMERIC_END = /(?:^|[.\u3002\uff0e\uff61])(?:\p{N}+|0x[0-9a-f]*)[.\u3002\uff0e\uff61]?$/u;

const ROOT_DOT = /(?<=[^.])\.$/;

function asciiDomain(domain: string): string {
  const isName = DOMAIN.test(domain) && !NUMERIC_END.test(domain);
  const url = isName ? parsedUrl(`http://${domain}`) : undefined;
  return url === undefined ? domain : url.hostname.replace(ROOT_DOT, '');
}
