const EXCERPT_CHARACTERS = 500;
const MASK = '[redacted]';

// The number of repeats is limited, so the time is linear even for a hostile response.

/** Control characters (C0, DEL, C1), line and paragraph separators, and marks that change the text direction. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;
const AUTHORIZATION = /\b(bearer|basic)(\s+|%20|\+)["']?[^\s"',;<>]+/gi;
const SECRET_MEMBER =
  /(["']?(?:[\w-]{0,40}(?:token|secret|password|api[_-]?key)|authorization)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&}\]<>]+)/gi;
const EMAIL = /[^\s"'<>(),;:=[\]{}@]{1,64}(?:@|%40)[^\s"'<>(),;:=[\]{}@&?]{1,253}/gi;
const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g;
/** A sequence of characters that is longer than any known id. It may be a token. */
const LONG_RUN = /[A-Za-z0-9_+/=~-]{41,}/g;

/**
 * Removes from a text everything that must not be logged: the given secrets, texts that look like a token or an
 * `Authorization` value, and e-mail addresses. A sequence of control characters becomes one space. Ids are kept.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, MASK);
  return clean
    .replace(CONTROLS, ' ')
    .replace(AUTHORIZATION, `$1 ${MASK}`)
    .replace(SECRET_MEMBER, `$1${MASK}`)
    .replace(JWT, MASK)
    .replace(EMAIL, '[e-mail]')
    .replace(LONG_RUN, MASK);
}

/** Enough characters of the body for an excerpt, even though redaction shortens the text. */
export const MAX_EXCERPTED = 8192;

/**
 * Returns the redacted beginning of a response, with at most 500 characters. The redaction comes before the cut,
 * because a cut token might not be recognized.
 */
export function excerptOf(body: string, secrets: readonly string[] = []): string {
  const clean = redact(body.slice(0, MAX_EXCERPTED), secrets).trim();
  const beginning = clean.slice(0, EXCERPT_CHARACTERS - 1).toWellFormed();
  return clean.length <= EXCERPT_CHARACTERS ? clean : `${beginning}…`;
}

/**
 * Copies an error of a library, so that it is safe as a `cause`. The copy has the name, the code, the redacted message
 * and stack, and a copy of the inner cause. Other properties are not copied, because they may contain request headers.
 */
export function safeCause(thrown: unknown, secrets: readonly string[] = [], depth = 3): unknown {
  if (!(thrown instanceof Error)) return undefined;
  const inner = depth > 0 ? safeCause(thrown.cause, secrets, depth - 1) : undefined;
  const copy = new Error(redact(thrown.message, secrets), inner === undefined ? undefined : { cause: inner });
  copy.name = thrown.name;
  if (thrown.stack !== undefined) copy.stack = redactLines(thrown.stack, secrets);
  const code: unknown = 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? Object.assign(copy, { code }) : copy;
}

/** Redacts the message at the beginning of a stack, and keeps the file names in the following lines. */
function redactLines(stack: string, secrets: readonly string[]): string {
  return stack
    .split('\n')
    .map((line) => (/^\s+at /.test(line) ? line : redact(line, secrets)))
    .join('\n');
}
