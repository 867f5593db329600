import type * as z from 'zod';
import { type PlatformErrorFacts, ReportedError, UnexpectedBodyError } from './errors.ts';
import { excerptOf } from './redact.ts';

export interface Decoding<T> {
  readonly schema: z.ZodType<T>;
  /**
   * Decides at which paths a malformed field is an error. Default: at required fields only. A malformed optional field
   * is dropped and reported, so that one malformed photo does not hide ten thousand people. `true` means all paths.
   * Groups use `true`, because the next write depends on their fields.
   */
  readonly exact?: boolean | ((path: Path) => boolean);
  /** Returns the paths of malformed parts that the schema dropped. The caller reports these paths. */
  readonly ignoredIn?: (value: T) => readonly string[];
  /** Rewrites the text before it is parsed. */
  readonly prepare?: (text: string) => string;
  /** Puts the parsed JSON into the envelope that the schema expects, because some platforms use another envelope. */
  readonly envelope?: (raw: unknown) => unknown;
  /** The name of the envelope's error field. The field is null if the call succeeded. */
  readonly errorMember?: string;
  /** True if the specification does not define the body. The body is then not parsed. */
  readonly ignoreBody?: boolean;
}

type Path = readonly PropertyKey[];

/**
 * Decodes a 2xx response. Returns its value, and the paths of the malformed fields that were dropped.
 * @throws UnexpectedBodyError if the text is not JSON or a required field is missing or malformed; ReportedError if the
 * envelope contains an error
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
  if (first.success) return { value: first.data, ignoredFields: decoding.ignoredIn?.(first.data) ?? [] };
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

/**
 * Matches the JSON escape of a surrogate. A platform that cuts texts may send only half of a surrogate pair, which has
 * no UTF-8 form and cannot be stored.
 */
const HALF = /\\u[dD][89a-fA-F]/;
const wellFormed = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value);

function parseJson(text: string, facts: PlatformErrorFacts): unknown {
  try {
    return JSON.parse(text, HALF.test(text) ? wellFormed : undefined) as unknown;
  } catch {
    // The message of `JSON.parse` quotes the text, which may contain a secret. So groupsync writes its own message.
    const got = text.trim() === '' ? 'an empty body' : `${text.length} characters that are not JSON`;
    throw new UnexpectedBodyError(`expected JSON, got ${got}`, facts);
  }
}

/**
 * Removes the field at `path` from the parsed JSON. It changes the JSON in place, because a response may have very many
 * such fields. Items of a list are not removed, because this would change the positions of the other items.
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

/** Describes the type of the value at a path. If there is no value, it describes the object that should contain it. */
function shapeAt(raw: unknown, path: Path): string {
  const value = path.reduce(memberOf, raw);
  if (value !== undefined || path.length === 0) return shapeOf(value);
  return `nothing in ${shapeOf(path.slice(0, -1).reduce(memberOf, raw))}`;
}

/** Describes the type of a value and its keys, but never its content. */
function shapeOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  const keys = Object.keys(value).map((key) => key.replace(/[^\w .-]/g, '?').slice(0, 40));
  return `an object with ${keys.length === 0 ? 'no keys' : `keys ${keys.slice(0, 20).join(', ')}`}`;
}

/** Examples: `[3].users[0]`, `data.events`. */
function formatPath(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
