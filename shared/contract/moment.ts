export const UNITS_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;

/** The forms that `momentOf` accepts. */
export const MOMENTS = 'time such as 2026-11-24T14:00, "yesterday 14:00" or "2h ago"';

export const formatMoment = (ms: number): string =>
  new Date(ms).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'long' });

/** Returns the time that a text means, in the zone of this computer; undefined if the text has no such form. */
export function momentOf(text: string, nowMs: number): number | undefined {
  const [, digits, unit] = /^(\d{1,6})([dhms])(?: ago)?$/.exec(text) ?? [];
  if (digits !== undefined) return nowMs - Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
  const [, day, hours = '0', minutes = '0'] =
    /^(today|yesterday)(?: ([01]?\d|2[0-3]):([0-5]\d))?$/.exec(text) ?? [];
  if (day !== undefined) {
    const date = new Date(nowMs);
    date.setDate(date.getDate() - (day === 'today' ? 0 : 1));
    return date.setHours(Number(hours), Number(minutes), 0, 0);
  }
  const date = text.slice(0, 10).padEnd(10);
  const isDate = new Date(Date.parse(date) || 0).toISOString().startsWith(date);
  const ms = isDate ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
