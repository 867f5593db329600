const EXCERPT_CHARACTERS = 500;
const MASK = '[redacted]';

// The number of repeats is bounded, so that a hostile response costs at most linear time.

/**
 * The C0, DEL and C1 controls, line and paragraph separators, and the marks that change the text direction on a screen.
 */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;
const AUTHORIZATION = /\b(bearer|basic)(\s+|%20|\+)["']?[^\s"',;<>]+/gi;
const SECRET_MEMBER =
  /(["']?(?:[\w-]{0,40}(?:token|secret|password|api[_-]?key)|authorization)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&}\]<>]+)/gi;
const EMAIL = /[^\s"'<>(),;:=[\]{}@]{1,64}(?:@|%40)[^\s"'<>(),;:=[\]{}@&?]{1,253}/gi;
const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g;
/** A run of characters that is longer than any known id may be a token. */
const LONG_RUN = /[A-Za-z0-9_+/=~-]{41,}/g;

/**
 * Removes from a text everything that must not be logged: the given secrets, texts that look like a token or an
 * `Authorization` value, and e-mail addresses. A run of control characters becomes one space. Ids stay.
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

/** Long enough for an excerpt, even after redaction has shortened the text. */
export const MAX_EXCERPTED = 8192;

/**
 * Returns the redacted beginning of a response, with at most 500 characters. It redacts before it cuts, because a cut
 * token might not be recognized.
 */
export function excerptOf(body: string, secrets: readonly string[] = []): string {
  const clean = redact(body.slice(0, MAX_EXCERPTED), secrets).trim();
  const beginning = clean.slice(0, EXCERPT_CHARACTERS - 1).toWellFormed();
  return clean.length <= EXCERPT_CHARACTERS ? clean : `${beginning}…`;
}

/**
 * Copies an error of a library, so that it is safe as a `cause`. The copy has the name, the code, the redacted message
 * and stack, and a copy of the inner cause. Other properties are not copied, because libraries put request headers into
 * properties.
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

/**
 * Redacts the message at the beginning of a stack and keeps the lines. The frames are file names and contain no secret.
 */
function redactLines(stack: string, secrets: readonly string[]): string {
  return stack
    .split('\n')
    .map((line) => (/^\s+at /.test(line) ? line : redact(line, secrets)))
    .join('\n');
}
