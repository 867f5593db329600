import { MINUTE_MS } from './duration.ts';

declare const brand: unique symbol;

/**
 * The position of an event in the order of all events, as an ASCII string. The order of two stamps as strings is the
 * order of their events. DynamoDB sorts ASCII like JavaScript, so a condition expression has the same order.
 *
 * `<UTC instant, 9 fraction digits>.<length of sequence, 2 digits><sequence>.<hex of id>.<hex of source>.<operation>`
 */
export type Stamp = string & { readonly [brand]: 'Stamp' };

/** The parts of a stamp. Times are RFC 3339. `operation` counts within one message. */
export interface StampParts {
  readonly time: string;
  readonly sequence?: string | undefined;
  readonly id: string;
  readonly source: string;
  readonly operation?: number | undefined;
}

/** A stamp that is earlier than the stamp of every event. */
export const STAMP_ZERO = '' as Stamp;

/** The time of an event may be this much later than its receipt. A later event is refused (`time_in_future`). */
export const MAX_AHEAD_MS = 5 * 60_000;
/**
 * The maximum age of an event. An older event is refused (`too_old`), also in a replay. So a tombstone may expire after
 * this time: no accepted event is older than the tombstone.
 */
export const MAX_AGE_MS = 400 * 24 * 3_600_000;

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const DIGITS = /^\d+$/;
export const MAX_SEQUENCE_DIGITS = 32;
/** The greatest index of an operation within one message. */
export const MAX_OPERATION = 99_999;

/**
 * Returns the same instant in UTC with nine fraction digits, so that equal instants are equal strings (RFC 3339 section
 * 5.6). A leap second counts as the last nanosecond of its minute. Digits after the ninth are dropped.
 * @returns undefined if the text is no RFC 3339 instant of the years 0000 to 9999.
 */
export function normaliseInstant(text: string): string | undefined {
  const found = RFC_3339.exec(text);
  if (found === null) return undefined;
  const fields = found.slice(1, 7).map(Number) as CalendarTime;
  const [year, month, day, hour, minute, second] = fields;
  const [fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = found.slice(7);
  const leap = second === 60;
  if (!isCalendarTime(fields) || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, leap ? 59 : second);
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * MINUTE_MS * (sign === '-' ? -1 : 1);
  const utc = new Date(local.getTime() - offsetMs).toISOString();
  if (utc.length !== 24) return undefined;
  return `${utc.slice(0, 19)}.${leap ? '999999999' : fraction.slice(0, 9).padEnd(9, '0')}Z`;
}

type CalendarTime = [year: number, month: number, day: number, hour: number, minute: number, second: number];

function isCalendarTime([year, month, day, hour, minute, second]: CalendarTime): boolean {
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 60) return false;
  const lastDay = new Date(0);
  lastDay.setUTCFullYear(year, month, 0);
  return day >= 1 && day <= lastDay.getUTCDate();
}

/**
 * Builds the stamp of one event.
 * @throws RangeError if a part has a wrong form. Callers with input from outside check the parts first.
 */
export function makeStamp(parts: StampParts): Stamp {
  const instant = normaliseInstant(parts.time);
  if (instant === undefined)
    throw new RangeError(`expected an RFC 3339 time, got ${JSON.stringify(parts.time)}`);
  const operation = parts.operation ?? 0;
  if (!Number.isInteger(operation) || operation < 0 || operation > MAX_OPERATION) {
    throw new RangeError(`expected an operation index from 0 to ${MAX_OPERATION}, got ${operation}`);
  }
  return [
    instant,
    sequencePart(parts.sequence),
    hexOfUtf8(parts.id),
    hexOfUtf8(parts.source),
    String(operation).padStart(5, '0'),
  ].join('.') as Stamp;
}

/** Returns the earliest stamp of an instant, in milliseconds since 1970. */
export const stampAt = (ms: number): Stamp =>
  makeStamp({ time: new Date(ms).toISOString(), id: '', source: '' });

/** Returns the sequence as text that sorts by its number. An absent sequence sorts first. */
function sequencePart(sequence: string | undefined): string {
  if (sequence === undefined) return '00';
  if (!DIGITS.test(sequence) || sequence.length > MAX_SEQUENCE_DIGITS) {
    throw new RangeError(`expected a sequence of 1 to ${MAX_SEQUENCE_DIGITS} digits`);
  }
  const digits = sequence.replace(/^0+(?=\d)/, '');
  return `${String(digits.length).padStart(2, '0')}${digits}`;
}

/**
 * Returns the UTF-8 bytes in hex. The result is ASCII and sorts like the bytes. If one text is the beginning of
 * another, the shorter text sorts first: in a stamp, a '.' follows each text, and '.' sorts before every hex digit.
 */
export const hexOfUtf8 = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');

const STAMP_FORM =
  /^(?<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z)\.(?<length>\d\d)(?<sequence>\d*)\.(?<id>[0-9a-f]*)\.(?<source>[0-9a-f]*)\.(?<operation>\d{5})$/;

/**
 * Reads a stamp that was sent as text (message attribute `stamp`) back into its parts.
 * @returns undefined if `makeStamp` would not make exactly this text from the parts
 */
export function readStamp(text: string): StampParts | undefined {
  const { time = '', sequence = '', id = '', source = '', operation } = STAMP_FORM.exec(text)?.groups ?? {};
  const parts = {
    time,
    sequence: sequence === '' ? undefined : sequence,
    id: utf8OfHex(id),
    source: utf8OfHex(source),
    operation: Number(operation),
  };
  // Each part has only one correct form. So the parts are correct if `makeStamp` makes the same text from them.
  const isCanonical = normaliseInstant(time) === time && sequence.length <= MAX_SEQUENCE_DIGITS;
  return isCanonical && makeStamp(parts) === text ? parts : undefined;
}

function utf8OfHex(hex: string): string {
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** @returns the text as a stamp; undefined if `makeStamp` cannot have made the text */
export function parseStamp(text: string): Stamp | undefined {
  return readStamp(text) === undefined ? undefined : (text as Stamp);
}

/** Returns the instant of a stamp in milliseconds since 1970, rounded down. */
export function stampTimeMs(stamp: Stamp): number {
  return Date.parse(`${stamp.slice(0, 23)}Z`);
}

type StampAge = 'acceptable' | 'time_in_future' | 'too_old';

/** Decides whether ingest accepts an event with this stamp. `nowMs` is the time of receipt. */
export function judgeAge(stamp: Stamp, nowMs: number): StampAge {
  const timeMs = stampTimeMs(stamp);
  if (timeMs > nowMs + MAX_AHEAD_MS) return 'time_in_future';
  if (timeMs < nowMs - MAX_AGE_MS) return 'too_old';
  return 'acceptable';
}

export const laterStamp = (a: Stamp, b: Stamp): Stamp => (a < b ? b : a);
