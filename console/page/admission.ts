import { signedIn } from './route.ts';

/*
 * The printed address of a console without sign-in has a code after the `#`, which browsers never send. The page gets a
 * token for the code, and removes the code from the address at once. The token is in the storage of the browser, which
 * only pages of this console can read. So a reload and a second tab work, and the history has neither code nor token.
 */

const STORED = 'token';
const code = signedIn === undefined ? location.hash.slice(1) : '';
if (code !== '') history.replaceState(null, '', location.pathname + location.search);

/** The address was pasted into an open page. */
addEventListener('hashchange', () => {
  if (signedIn === undefined && location.hash !== '') location.reload();
});

/** Sent with each request; empty in a console with sign-in, and without a valid code. */
export let token = '';

/** @returns whether the page can ask the server */
export async function admit(): Promise<boolean> {
  if (signedIn !== undefined) return true;
  // The code may have expired, while the stored token is still valid.
  token = (await tokenFor(code)) || (await tokenFor(stored()));
  if (token === '') return false;
  const isStored = store(token);
  // A browser keeps the address that was typed with its entry of the history, until a navigation replaces the entry.
  if (code !== '' && isStored) await replaceEntry();
  return true;
}

/** @returns the token; empty if the server does not admit the secret */
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
