import { MAX_JSON_DEPTH } from './events/bounds.ts';
import type { DeadLetterCode } from './names.ts';

type ParsedJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: DeadLetterCode; readonly message: string };

/** Parses text from an untrusted sender. A text that is nested too deeply is refused before it is parsed. */
export function parseJson(text: string): ParsedJson {
  if (nestsDeeperThan(text, MAX_JSON_DEPTH)) {
    const message = `expected JSON nested at most ${MAX_JSON_DEPTH} levels deep`;
    return { ok: false, code: 'invalid_event', message };
  }
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    // The parser's own message would quote the text, which may contain names and addresses.
    return {
      ok: false,
      code: 'invalid_json',
      message: `expected JSON, got ${text.length} characters of other text`,
    };
  }
}

/** Returns the value of JSON text; undefined for any other text. */
export function jsonValue(text: string): unknown {
  const json = parseJson(text);
  return json.ok ? json.value : undefined;
}

/** Whether JSON text nests deeper than `limit`. For text that is not JSON, the result has no meaning. */
function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i];
    if (character === '"') i = endOfString(text, i);
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** @returns the index of the closing quote, or of the end of the text */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}
