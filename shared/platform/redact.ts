const EXCERPT_CHARACTERS = 500;
const MASK = '[redacted]';

// Repeats are bounded, so that a hostile answer costs no more than linear time.

/** C0, DEL and C1 controls, line and paragraph separators, and the marks that reorder text on a screen. */
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;
const AUTHORIZATION = /\b(bearer|basic)(\s+|%20|\+)["']?[^\s"',;<>]+/gi;
const SECRET_MEMBER =
  /(["']?(?:[\w-]{0,40}(?:token|secret|password|api[_-]?key)|authorization)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|'[^']*'?|[^\s,;&}\]<>]+)/gi;
const EMAIL = /[^\s"'<>(),;:=[\]{}@]{1,64}(?:@|%40)[^\s"'<>(),;:=[\]{}@&?]{1,253}/gi;
const JWT = /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g;
/** Longer than any known id: such a text may be a token. */
const LONG_RUN = /[A-Za-z0-9_+/=~-]{41,}/g;

/**
 * Takes out of a text what must not be logged: the secrets named, anything that looks like a token or an
 * `Authorization` value, and e-mail addresses. Control characters become one space. Ids stay.
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

/** Enough to fill an excerpt, however much of it the redaction takes. */
export const MAX_EXCERPTED = 8192;

/** The redacted beginning of an answer, at most 500 characters. Redaction comes first: a cut token would slip through. */
export function excerptOf(body: string, secrets: readonly string[] = []): string {
  const clean = redact(body.slice(0, MAX_EXCERPTED), secrets).trim();
  const beginning = clean.slice(0, EXCERPT_CHARACTERS - 1).toWellFormed();
  return clean.length <= EXCERPT_CHARACTERS ? clean : `${beginning}…`;
}

/**
 * A copy of what a library threw, safe to keep as `cause`: name, code, redacted message and stack, and the same of its own
 * cause. Libraries put request headers into messages and properties; the copy holds none of their properties.
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

/** Redacts the message of a stack and keeps its lines. Frames are file names and contain no secret. */
function redactLines(stack: string, secrets: readonly string[]): string {
  return stack
    .split('\n')
    .map((line) => (/^\s+at /.test(line) ? line : redact(line, secrets)))
    .join('\n');
}
