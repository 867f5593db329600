import type { ConsoleSignIn } from '../../shared/contract/console.ts';
import type { ConsoleSessions } from '../../shared/sync/ports/bundles.ts';
import { problem } from '../server/handle.ts';
import { HEADERS, indexOf, type Page } from '../server/page-files.ts';
import { type Claims, hasClaim, type Roles, rolesOf, type SignedInPerson } from '../server/roles.ts';
import { attemptOf, attemptValue, hashOf, ownPath, readAttempt } from './attempt.ts';
import {
  abandonedAttempts,
  attemptCookie,
  type Cookies,
  cookie,
  endCookie,
  readCookies,
  SESSION_COOKIE,
  SIGNED_OUT_COOKIE,
  SIGNED_OUT_SECONDS,
} from './cookies.ts';
import { noticePage } from './notices.ts';
import { type Provider, SignInRefused } from './provider.ts';

interface ConsoleServerOptions {
  readonly origin: string;
  readonly settings: ConsoleSignIn;
  readonly provider: Provider;
  readonly sessions: ConsoleSessions;
  readonly page: Page;
  /** Answers requests for data and actions (`createHandle`). */
  readonly handle: (request: Request, person: SignedInPerson) => Promise<Response>;
  readonly clock: () => number;
  readonly randomHex: (bytes: number) => string;
  /** Receives log events. They contain no session ids, codes or tokens. */
  readonly log: (event: string, fields?: Readonly<Record<string, string>>) => void;
}

export const CALLBACK_PATH = '/auth/callback';
/** RFC 6797. The console is reachable by https only. */
const OVER_TLS = { 'strict-transport-security': 'max-age=31536000' };
const ATTEMPT_SECONDS = 600;
const MAX_URL = 8_000;

/**
 * Serves the console to people who sign in with the company's provider.
 *
 *     request                        | without a session    | with a session
 *     -------------------------------|----------------------|--------------------------------
 *     a file of the page             | answered             | answered
 *     another page (`/`, `/c/…`)     | sent to the provider | answered
 *     … after signing out            | a link to sign in    |
 *     `/api/…`                       | 401                  | answered, as the roles permit
 *     the last two from another site | 403                  | 403
 */
export function createConsoleServer(options: ConsoleServerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    const response = await answer(request, options).catch((error: unknown) => failed(error, options));
    const secured = options.origin.startsWith('https:') ? { ...HEADERS, ...OVER_TLS } : HEADERS;
    for (const [name, value] of Object.entries(secured)) response.headers.set(name, value);
    return response;
  };
}

async function answer(request: Request, options: ConsoleServerOptions): Promise<Response> {
  if (request.url.length > MAX_URL) return problem(414, 'the address is too long');
  const url = new URL(request.url);
  const cookies = readCookies(request.headers.get('cookie'));
  if (url.pathname.startsWith('/api/') || request.method === 'POST')
    return answerPage(request, url.pathname, cookies, options);
  if (request.method !== 'GET') return problem(405, 'only GET');
  return open(url, cookies, options);
}

async function answerPage(request: Request, path: string, cookies: Cookies, options: ConsoleServerOptions) {
  const refusal = refusalOf(request, options.origin);
  if (refusal !== undefined) return problem(403, refusal);
  const person = await personOf(cookies, options);
  if (person === undefined) return problem(401, 'your sign-in has ended: sign in again');
  if (path.startsWith('/api/')) return options.handle(request, person);
  return path === '/auth/sign-out' ? signOut(cookies, options) : problem(405, 'only GET');
}

/** Answers a person who opens an address in the browser. */
async function open(url: URL, cookies: Cookies, options: ConsoleServerOptions): Promise<Response> {
  const { origin, page } = options;
  const { pathname, search, searchParams } = url;
  switch (pathname) {
    case '/auth/sign-in':
      return signIn(ownPath(searchParams.get('to'), origin), cookies, options);
    case CALLBACK_PATH:
      return finish(url, cookies, options);
    case '/auth/signed-out':
      return noticePage(200, 'signedOut');
    default:
  }
  const file = pathname !== '/' && Object.hasOwn(page, pathname) ? page[pathname] : undefined;
  if (file !== undefined) return new Response(file.body, { headers: { 'content-type': file.type } });
  const person = await personOf(cookies, options);
  if (person === undefined) {
    const to = ownPath(`${pathname}${search}`, origin);
    return cookies.has(SIGNED_OUT_COOKIE) ? noticePage(200, 'signedOut', to) : signIn(to, cookies, options);
  }
  return new Response(indexOf(person.id), { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

/**
 * Refuses a request for data that another site makes in the person's browser. Another site cannot set the header
 * `x-groupsync-token`, cannot hide its origin, and cannot make the browser send the cookie.
 */
function refusalOf({ method, headers }: Request, origin: string): string | undefined {
  const from = headers.get('origin');
  const site = headers.get('sec-fetch-site');
  const isOther = (from !== null && from !== origin) || (site !== null && site !== 'same-origin');
  // Under the page's referrer policy, Chrome sends no `Origin` with a POST to the same host.
  const isProven = method === 'GET' || from === origin || site === 'same-origin';
  const isUnmarked = !headers.has('x-groupsync-token') || !isProven;
  return isOther || isUnmarked ? 'refused: request from another page' : undefined;
}

const sessionIdOf = (cookies: Cookies): string | undefined =>
  /^[0-9a-f]{64}$/.exec(cookies.get(SESSION_COOKIE) ?? '')?.[0];

async function personOf(cookies: Cookies, options: ConsoleServerOptions) {
  const id = sessionIdOf(cookies);
  const session = id === undefined ? undefined : await options.sessions.find(hashOf(id));
  if (session === undefined || session.expiresMs <= options.clock()) return undefined;
  return { id: session.person, roles: session.roles };
}

async function signIn(to: string, cookies: Cookies, options: ConsoleServerOptions): Promise<Response> {
  const secret = options.randomHex(32);
  const attempt = attemptOf(secret);
  const location = await options.provider.authorizationUrl(attempt);
  const kept = cookie(attemptCookie(attempt.state), attemptValue(secret, to), ATTEMPT_SECONDS);
  const ended = [...abandonedAttempts(cookies), SIGNED_OUT_COOKIE].map(endCookie);
  return redirect(location.href, [...ended, kept]);
}

/** The provider has sent the browser back. A new session starts if the person has a role. */
async function finish(callback: URL, cookies: Cookies, options: ConsoleServerOptions): Promise<Response> {
  const { provider, sessions, settings, origin, clock, randomHex, log } = options;
  const name = attemptCookie(callback.searchParams.get('state') ?? '');
  const attempt = readAttempt(cookies.get(name));
  if (attempt === undefined)
    throw new SignInRefused('the attempt to sign in is unknown or older than ten minutes');
  // The function may receive requests under a different host than the address that people open.
  const answered = new URL(`${CALLBACK_PATH}${callback.search}`, origin);
  const claims = await provider.claimsOf(answered, attempt);
  const { person, roles } = admitted(claims, settings);
  const earlier = sessionIdOf(cookies);
  if (earlier !== undefined) await sessions.end(hashOf(earlier));
  const id = randomHex(32);
  const seconds = settings.sessionMinutes * 60;
  const sinceMs = clock();
  await sessions.add(hashOf(id), { person, roles, sinceMs, expiresMs: sinceMs + seconds * 1_000 });
  log('signed in', { person });
  return redirect(ownPath(attempt.to, origin), [cookie(SESSION_COOKIE, id, seconds), endCookie(name)]);
}

const MAX_PERSON = 254;

/** @throws SignInRefused if the person may not use the console */
function admitted(
  claims: Claims,
  settings: ConsoleSignIn,
): { readonly person: string; readonly roles: Roles } {
  const { personClaim, require, roles: rules } = settings;
  const person = Object.hasOwn(claims, personClaim) ? claims[personClaim] : undefined;
  if (typeof person !== 'string' || person === '' || person.length > MAX_PERSON || /[\p{C}\s]/u.test(person))
    throw new SignInRefused('the id token does not name the person (setting personClaim)');
  if (personClaim === 'email' && claims['email_verified'] === false)
    throw new SignInRefused('the provider has not verified the e-mail address');
  const missing = Object.entries(require).find(([claim, value]) => !hasClaim(claims, claim, value));
  if (missing !== undefined)
    throw new SignInRefused(`the claim ${missing[0]} has another value (setting require)`);
  const roles = rolesOf(claims, rules);
  if (Object.keys(roles).length === 0) throw new SignInRefused('the person has no role (setting roles)');
  return { person, roles };
}

async function signOut(cookies: Cookies, { sessions, log }: ConsoleServerOptions): Promise<Response> {
  const id = sessionIdOf(cookies);
  if (id !== undefined) await sessions.end(hashOf(id));
  log('signed out');
  const headers = new Headers({ 'set-cookie': endCookie(SESSION_COOKIE) });
  headers.append('set-cookie', cookie(SIGNED_OUT_COOKIE, '1', SIGNED_OUT_SECONDS));
  return new Response(null, { status: 204, headers });
}

function redirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location });
  for (const one of cookies) headers.append('set-cookie', one);
  return new Response(null, { status: 302, headers });
}

function failed(error: unknown, { log }: ConsoleServerOptions): Response {
  if (error instanceof SignInRefused) {
    log('sign-in refused', { reason: error.message });
    return noticePage(403, 'refused');
  }
  log('request failed', { error: error instanceof Error ? error.name : 'unknown' });
  return noticePage(502, 'failed');
}
