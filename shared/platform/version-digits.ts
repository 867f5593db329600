/*
 * A platform may send a group's version as a number, because some clients expect a number. JSON.parse keeps only 53
 * bits: the version 1764161828000000001 would lose its last digits, and the platform would refuse every write as stale.
 * So groupsync stores a number that JavaScript would change or write differently as the text `number:<digits>`, and
 * sends the same digits.
 *
 *   the platform sends     groupsync stores            groupsync sends
 *   "v1"                   "v1"                        "v1"
 *   7                      7                           7
 *   9007199254740993       "number:9007199254740993"   9007199254740993
 *   1.0                    "number:1.0"                1.0
 *   "number:7"             "text:number:7"             "number:7"
 *
 * The patterns match only fields. They never match inside a string, because a quotation mark is escaped there.
 */

const NUMBER = /(?<!\\)("version"\s*:\s*)(-?\d[\d.eE+-]*)/g;
/** Versions from the platform that already begin with `number:` or `text:`. */
const LIKE_MARKED = /(?<!\\)("version"\s*:\s*")(?=(?:number|text):)/g;

const isKept = (digits: string): boolean =>
  Number.isSafeInteger(Number(digits)) && String(Number(digits)) === digits;

/** Parses a number. A number that JavaScript would change becomes a String object, which no other field accepts. */
export const parseDigits = (digits: string): number | object =>
  isKept(digits) ? Number(digits) : Object(digits);

/** Returns a parsed version in the form that groupsync stores. */
export function heldVersion(version: string | number | object): string | number {
  if (typeof version === 'object') return `number:${version}`;
  return /^(?:number|text):/.test(`${version}`) ? `text:${version}` : version;
}

/** Changes the JSON of a response: each version gets the form that groupsync stores. */
export const holdVersions = (json: string): string =>
  json
    .replace(LIKE_MARKED, '$1text:')
    .replace(NUMBER, (member: string, name: string, digits: string) =>
      isKept(digits) ? member : `${name}"number:${digits}"`,
    );

/** Changes the JSON of a request: each version gets the form that the platform sent. */
export const releaseVersions = (json: string): string =>
  json.replace(/(?<!\\)("version":)"number:([^"]+)"/g, '$1$2').replace(/(?<!\\)("version":")text:/g, '$1');
