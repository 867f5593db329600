import { signedIn } from './route.ts';

/*
 * The printed address of a console without sign-in has a code after the `#`, which browsers never send. The page
 * removes the code from the address at once, and exchanges it for a token. The page stores the token in the browser,
 * where only pages of the same host and port can read it. A reload or a second tab uses the stored token. If the
 * browser stored the token, its history contains neither the code nor the token.
 */

const STORED = 'token';
const code = signedIn === undefined ? location.hash.slice(1) : '';
if (code !== '') history.replaceState(null, '', location.pathname + location.search);

/** The operator pasted the printed address into an open page. */
addEventListener('hashchange', () => {
  if (signedIn === undefined && location.hash !== '') location.reload();
});

/**
 * The page sends this token with each request. It is empty in a console with sign-in, and if the server accepts neither
 * the code nor the stored token.
 */
export let token = '';

/** @returns whether the server admits the page */
export async function admit(): Promise<boolean> {
  if (signedIn !== undefined) return true;
  // The stored token may be valid although the code has expired.
  token = (await tokenFor(code)) || (await tokenFor(stored()));
  if (token === '') return false;
  const isStored = store(token);
  // The browser's history keeps the typed address, with the code, until a navigation replaces the entry.
  if (code !== '' && isStored) await replaceEntry();
  return true;
}

/** @returns the token, or '' if the server does not accept the secret */
async function tokenFor(secret: string): Promise<string> {
  if (secret === '') return '';
  const response = await fetch('/api/token', { headers: headersOf(secret) });
  return response.ok ? ((await response.json()) as { token: string }).token : '';
}

function replaceEntry(): Promise<never> {
  location.replace(location.pathname + location.search);
  return new Promise(() => undefined);
}

export const headersOf = (secret: string) => ({ 'x-groupsync-token': secret });

/** A browser may refuse to store anything. Then a reload needs the printed address. */
function stored(): string {
  try {
    return localStorage.getItem(STORED) ?? '';
  } catch {
    return '';
  }
}

function store(value: string): boolean {
  try {
    localStorage.setItem(STORED, value);
    return true;
  } catch {
    return false;
  }
}
