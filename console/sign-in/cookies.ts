/*
 * The cookies of the console. The prefix `__Host-` makes the browser refuse a cookie that another host sets, or that is
 * sent without TLS (RFC 6265bis section 4.1.3). With `SameSite=Lax`, the browser sends the cookie when a person opens a
 * link in a notification. It sends no cookie with requests of other sites.
 */

export const SESSION_COOKIE = '__Host-groupsync-session';
/** Set when a person signs out. While it exists, pages do not start a sign-in by themselves, for example after Back. */
export const SIGNED_OUT_COOKIE = '__Host-groupsync-signed-out';
export const SIGNED_OUT_SECONDS = 12 * 3_600;
const ATTEMPT_PREFIX = '__Host-groupsync-sign-in-';

/** The cookie of one attempt to sign in, so that people can sign in in several tabs at once. */
export const attemptCookie = (state: string): string => `${ATTEMPT_PREFIX}${state.slice(0, 16)}`;

const MAX_ATTEMPTS_BYTES = 4_000;

/**
 * Returns the names of the cookies of all attempts if these are large together, and none otherwise. They must be
 * deleted, because a browser sends only a few KB of cookies.
 */
export const abandonedAttempts = (cookies: Cookies): readonly string[] => {
  const attempts = [...cookies].filter(([name]) => name.startsWith(ATTEMPT_PREFIX));
  const bytes = attempts.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return bytes < MAX_ATTEMPTS_BYTES ? [] : attempts.map(([name]) => name);
};

export type Cookies = ReadonlyMap<string, string>;

const MAX_HEADER = 16_000;

/**
 * Removes only spaces and tabs (RFC 6265 section 4.2). `trim` would also remove a no-break space. Then the console
 * would accept a cookie with a no-break space before its name as the session cookie, and a subdomain can set such a
 * cookie.
 */
const trimmed = (text: string): string => text.replaceAll(/^[ \t]+|[ \t]+$/g, '');

/** Reads the header `Cookie`. A name that occurs twice is left out, because one of the two cookies may be forged. */
export function readCookies(header: string | null): Cookies {
  const found = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of (header ?? '').slice(0, MAX_HEADER).split(';').map(trimmed)) {
    const at = pair.indexOf('=');
    if (at < 1) continue;
    const name = trimmed(pair.slice(0, at));
    if (found.has(name)) repeated.add(name);
    found.set(name, trimmed(pair.slice(at + 1)));
  }
  for (const name of repeated) found.delete(name);
  return found;
}

/** @param value must not contain spaces, commas or semicolons */
export const cookie = (name: string, value: string, maxAgeSeconds: number): string =>
  `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; Secure; SameSite=Lax`;

export const endCookie = (name: string): string => cookie(name, '', 0);
