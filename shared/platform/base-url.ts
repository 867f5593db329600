import { isInternalUrl, parsedUrl } from '../contract/url.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Checks a URL to which a secret will be sent. Allowed: https to any host, or http to this machine. A URL with a user,
 * a password, a query or a fragment is refused. Slashes at the end of the path are removed.
 * @param publicOnly refuses addresses of this machine and of private networks; true in deployed functions
 * @throws TypeError that describes the fault. The message never contains the URL, which may contain a password.
 */
export function parseSecureUrl(text: string, what: string, publicOnly = false) {
  const url = parsedUrl(text);
  if (url === undefined) throw new TypeError(`${what}: expected an absolute https URL`);
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (!secure) throw new TypeError(`${what}: expected https (http only for loopback), got ${url.protocol}`);
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`${what}: expected no user or password in the URL`);
  }
  if (/[?#]/.test(text)) throw new TypeError(`${what}: expected no query or fragment in the URL`);
  if (publicOnly && isInternalUrl(text)) {
    throw new TypeError(
      `${what}: expected a public address, got an address of this machine or of a private network`,
    );
  }
  return { origin: url.origin, path: url.pathname.replace(/\/+$/, '') };
}
