import type * as z from 'zod';
import { type PlatformErrorFacts, ReportedError, UnexpectedBodyError } from './errors.ts';
import { excerptOf } from './redact.ts';

export interface Decoding<T> {
  readonly schema: z.ZodType<T>;
  /**
   * True if every field matters, because what we write next depends on it (groups); or those paths that do.
   * Elsewhere an optional field of another form than specified is left out and reported: one odd photo must not hide
   * ten thousand people.
   */
  readonly exact?: boolean | ((path: Path) => boolean);
  /** Which paths of a value that was read are odd, and were left out of it; they are reported. */
  readonly oddOf?: (value: T) => readonly string[];
  /** Rewrites the text before it is parsed. */
  readonly prepare?: (text: string) => string;
  /** Wraps the parsed JSON in the envelope of the schema, if the platform uses several envelopes. */
  readonly envelope?: (raw: unknown) => unknown;
  /** Member of an envelope that is null on success. */
  readonly errorMember?: string;
  /** True if the body is not specified: nothing is parsed. */
  readonly ignoreBody?: boolean;
}

type Path = readonly PropertyKey[];

/**
 * Reads a 2xx answer: its value, and the paths of fields that were left out because of their form.
 * @throws UnexpectedBodyError naming the field, where the text is no JSON or a field that must be there is not;
 * ReportedError if the envelope holds an error.
 */
export function decode<T>(
  text: string,
  decoding: Decoding<T>,
  facts: PlatformErrorFacts,
  secrets: readonly string[] = [],
) {
  const { schema, exact = false, errorMember } = decoding;
  const raw = decoding.ignoreBody === true ? undefined : parse(text, decoding, facts);
  const reported = errorMember === undefined ? undefined : memberOf(raw, errorMember);
  if (reported !== undefined && reported !== null) {
    const excerpt = excerptOf(JSON.stringify(reported), secrets);
    throw new ReportedError(`the answer's ${errorMember} is not null`, { ...facts, excerpt });
  }
  const first = schema.safeParse(raw);
  if (first.success) return { value: first.data, ignoredFields: decoding.oddOf?.(first.data) ?? [] };
  const paths = first.error.issues.map((issue) => issue.path);
  const matters = typeof exact === 'function' ? exact : () => exact;
  const failure = unexpected(first.error, raw, facts);
  if (!paths.some(matters)) {
    for (const path of paths) leaveOut(raw, path);
    const second = schema.safeParse(raw);
    if (second.success) return { value: second.data, ignoredFields: paths.map(formatPath) };
  }
  throw failure;
}

function parse<T>(text: string, { prepare, envelope }: Decoding<T>, facts: PlatformErrorFacts): unknown {
  const raw = parseJson(prepare?.(text) ?? text, facts);
  return envelope === undefined ? raw : envelope(raw);
}

/** Half a character has no UTF-8 form, so it could not be stored as it is; a platform that cuts texts leaves one. */
const HALF = /\\u[dD][89a-fA-F]/;
const wellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value);

function parseJson(text: string, facts: PlatformErrorFacts): unknown {
  try {
    return JSON.parse(text, HALF.test(text) ? wellFormed : undefined) as unknown;
  } catch {
    // The parser's own message quotes the text, which may hold anything.
    const got = text.trim() === '' ? 'an empty body' : `${text.length} characters that are none`;
    throw new UnexpectedBodyError(`expected JSON, got ${got}`, facts);
  }
}

/**
 * Takes the named field at a path out of what was parsed, in place: there may be as many as the answer has bytes. An item
 * of a list stays as it is: without it the list would be shorter.
 */
function leaveOut(raw: unknown, path: Path): void {
  const holder = path.slice(0, -1).reduce(memberOf, raw);
  if (typeof holder === 'object' && holder !== null && !Array.isArray(holder)) {
    Reflect.deleteProperty(holder, path.at(-1) ?? '');
  }
}

function unexpected(error: z.ZodError, raw: unknown, facts: PlatformErrorFacts): UnexpectedBodyError {
  const issue = error.issues[0];
  const path = issue?.path ?? [];
  const field = formatPath(path);
  const what = `expected ${field === '' ? 'a body' : `field ${field}`} as specified (${issue?.message ?? 'unknown'})`;
  return new UnexpectedBodyError(`${what}, got ${shapeAt(raw, path)}`, facts, field);
}

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Record<PropertyKey, unknown>)[key]
    : undefined;
}

/** The shape of the value at a path, or of the nearest value above it. */
function shapeAt(raw: unknown, path: Path): string {
  const value = path.reduce(memberOf, raw);
  if (value !== undefined || path.length === 0) return shapeOf(value);
  return `nothing in ${shapeOf(path.slice(0, -1).reduce(memberOf, raw))}`;
}

/** Names a value's form and its keys, never its content. */
function shapeOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  const keys = Object.keys(value).map((key) => key.replace(/[^\w .-]/g, '?').slice(0, 40));
  return `an object with ${keys.length === 0 ? 'no keys' : `keys ${keys.slice(0, 20).join(', ')}`}`;
}

/** `[3].users[0]`, `data.events`. */
function formatPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
