import { parsedUrl } from '../contract/url.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Checks an address that a secret will be sent to: https, or http to this machine only, and no user, password, query
 * or fragment in it. The path keeps no slash at its end.
 * @throws TypeError naming what is wrong; never with the address itself, which may hold a password.
 */
export function parseSecureUrl(text: string, what: string) {
  const url = parsedUrl(text);
  if (url === undefined) throw new TypeError(`${what}: expected an absolute https URL`);
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (!secure) throw new TypeError(`${what}: expected https (http only for loopback), got ${url.protocol}`);
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`${what}: expected no user or password in the URL`);
  }
  if (/[?#]/.test(text)) throw new TypeError(`${what}: expected no query or fragment in the URL`);
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}
