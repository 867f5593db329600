import { csvLine } from '../../shared/contract/csv.ts';
import { duration } from '../../shared/domain/duration.ts';
import { T } from './texts.ts';

export { duration } from '../../shared/domain/duration.ts';

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

export const number = (value: number): string => value.toLocaleString('en');

export function fromNow(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at);
  if (Math.abs(ms) < 1_500) return T.now;
  return ms > 0 ? T.ago(duration(ms)) : T.inTime(duration(-ms));
}

const inZone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Formats an instant in the user's time zone, and exactly in UTC. */
export const exact = (at: string): string => `${inZone.format(new Date(at))} (${at})`;

const minuteTime = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

export const minute = (at: string): string => minuteTime.format(new Date(at));

const dayTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export const day = (at: string): string => dayTime.format(new Date(at));

export const range = ([from = '', to = '']: readonly string[]): string =>
  dayTime.formatRange(new Date(from), new Date(to));

/** Escapes control characters as the CLI does, including those that change the reading direction. */
export const visible = (text: string): string =>
  text.replace(
    /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export const csv = (rows: readonly (readonly (string | number | null)[])[]): string =>
  rows.map((row) => csvLine(row.map((value) => String(value ?? '')))).join('\r\n');

export function download(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
