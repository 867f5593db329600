import { computed, signal } from '@preact/signals';

/*
 * Pages are paths: `/c/CONNECTION/PAGE/ID?filters`. In the printed address and in links, the token is after the `#`,
 * which browsers never send. So a second tab works. The address shown has no token, because the history and bookmarks
 * keep it. For a reload, the tab's session storage has the token until the tab is closed.
 */

const STORED_TOKEN = 'token';
export const token = location.hash.slice(1) || (sessionStorage.getItem(STORED_TOKEN) ?? '');
sessionStorage.setItem(STORED_TOKEN, token);
history.replaceState(null, '', location.pathname + location.search);
const place = signal(new URL(location.href));

const parts = computed(() => place.value.pathname.split('/').slice(2).map(decodeURIComponent));
export const connection = computed(() => parts.value[0] || 'default');
export const page = computed(() => parts.value[1] || 'home');
export const id = computed(() => parts.value[2] ?? '');
export const query = computed(() => place.value.searchParams);

export function pathTo(page: string, id = '', filters: Readonly<Record<string, string>> = {}): string {
  const path = ['c', connection.value, page === 'home' ? '' : page, id].filter((part) => part !== '');
  const text = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
  return `/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}#${token}`;
}

export function go(path: string, how: 'push' | 'replace' = 'push'): void {
  const [address = path] = path.split('#');
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', address);
  const before = place.value.pathname;
  place.value = new URL(location.href);
  if (before === place.value.pathname) return;
  scrollTo(0, 0);
  // Moves the focus, so that screen readers start at the new page.
  document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
}

/** Stores the filters of this page in the URL, so that links and the Back button keep them. */
export function filterBy(filters: Readonly<Record<string, string>>): void {
  const all = { ...Object.fromEntries(query.value), ...filters };
  go(pathTo(page.value, id.value, all), 'replace');
}

// The operator pasted a printed address while this page was open. The page starts again with the token of that address.
addEventListener('hashchange', () => {
  if (location.hash !== '') location.reload();
});
addEventListener('popstate', () => {
  place.value = new URL(location.href);
});
addEventListener('click', (event) => {
  const link = (event.target as Element).closest('a');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (link === null || !isPlain || link.origin !== location.origin || link.download !== '') return;
  if (link.getAttribute('href')?.startsWith('#') === true) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
});
