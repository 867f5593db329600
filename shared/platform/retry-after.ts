const SECONDS = /^\d+(?:\.\d+)?$/;
/** IMF-fixdate, the obsolete RFC 850 form, or asctime: each begins with a day's name (RFC 9110 section 5.6.7). */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

const SHORTEST_MS = 1_000;
const LONGEST_MS = 900_000;

/**
 * Milliseconds that a `Retry-After` header asks for: seconds or an HTTP date (RFC 9110 section 10.2.3), from a second
 * to a quarter of an hour, since some servers send an epoch or a date years ahead. A header that is neither form is
 * undefined, as if it were absent.
 */
export function retryAfterOf(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') return undefined;
  if (SECONDS.test(text)) return bounded(Math.ceil(Number(text) * 1000));
  if (!HTTP_DATE.test(text)) return undefined;
  // asctime names no zone and means GMT; without this it would be read in the machine's own.
  const atMs = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(atMs) ? undefined : bounded(atMs - nowMs);
}

const bounded = (ms: number): number => Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ms));
