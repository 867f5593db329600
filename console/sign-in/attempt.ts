import { createHash } from 'node:crypto';
import type { SignInAttempt } from './provider.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Returns the key of a stored session. The key is a hash, so a copy of the table contains no session id. */
export const hashOf = (sessionId: string): string => sha256(`session:${sessionId}`);

/** Returns the values of an attempt, derived from one secret. Only the browser stores the secret. */
export const attemptOf = (secret: string): SignInAttempt => ({
  state: sha256(`state:${secret}`),
  nonce: sha256(`nonce:${secret}`),
  verifier: sha256(`verifier:${secret}`),
});

/** @param to a path that `ownPath` has returned */
export const attemptValue = (secret: string, to: string): string =>
  `${secret}.${Buffer.from(to).toString('base64url')}`;

/** Returns the secret and the path in the cookie of an attempt; undefined if the cookie has another form. */
export function readAttempt(value: string | undefined) {
  const [, secret, to] = /^([0-9a-f]{64})\.([\w-]{1,2700})$/.exec(value ?? '') ?? [];
  if (secret === undefined || to === undefined) return undefined;
  return { ...attemptOf(secret), to: Buffer.from(to, 'base64url').toString() };
}

/** Maximum length in characters. The percent-encoded path of a group with the longest id is shorter. */
const MAX_PATH = 2_000;

/** Returns the path if it is a page of the console, and `/` otherwise, so that no link leads to another site. */
export function ownPath(text: string | null, origin: string): string {
  if (text === null || !text.startsWith('/') || !URL.canParse(text, origin)) return '/';
  const { origin: found, pathname, search } = new URL(text, origin);
  const path = `${pathname}${search}`;
  return found === origin && path.startsWith('/c/') && path.length <= MAX_PATH ? path : '/';
}
