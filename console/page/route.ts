import { computed, signal } from '@preact/signals';

/* Pages are paths: `/c/CONNECTION/PAGE/ID?filters`, and `/` for all connections. */

/** The person who signed in; undefined in a console without sign-in. */
export const signedIn = document.body.dataset['person'];
const place = signal(new URL(location.href));

const parts = computed(() => place.value.pathname.split('/').slice(2).map(decoded));
/** Empty on the page of all connections. */
export const connection = computed(() => parts.value[0] ?? '');
export const page = computed(() => parts.value[1] || 'home');
export const id = computed(() => parts.value[2] ?? '');
export const query = computed(() => place.value.searchParams);
/** Returns a filter in the address; empty if it is not set. */
export const given = (name: string): string => query.value.get(name) ?? '';

/** A person may have typed an address that is not percent-encoded correctly. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const pathTo: ToPage = (page, id, filters) => pagesOf(connection.value)(page, id, filters);

export type ToPage = (page: string, id?: string, filters?: Readonly<Record<string, string>>) => string;

export const pagesOf =
  (of: string): ToPage =>
  (page, id = '', filters = {}) => {
    if (of === '') return '/';
    const path = ['c', of, page === 'home' ? '' : page, id].filter((part) => part !== '');
    const text = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
    return `/${path.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
  };

export function go(path: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.replaceState({ scrollY }, '');
  history[how === 'push' ? 'pushState' : 'replaceState'](null, '', path);
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

/** The time for which the place of an earlier page is restored, because its rows are loaded first. */
const RESTORE_MS = 3_000;

history.scrollRestoration = 'manual';
addEventListener('popstate', ({ state, timeStamp }) => {
  place.value = new URL(location.href);
  const { scrollY: top = 0 } = (state ?? {}) as { readonly scrollY?: number };
  let isStopped = false;
  const stop = () => {
    isStopped = true;
  };
  for (const input of ['wheel', 'keydown', 'pointerdown']) addEventListener(input, stop, { once: true });
  const restore = (nowMs: number) => {
    scrollTo(0, top);
    if (!isStopped && scrollY < top && nowMs - timeStamp < RESTORE_MS) requestAnimationFrame(restore);
  };
  requestAnimationFrame(restore);
});
addEventListener('click', (event) => {
  const link = (event.target as Element).closest('a');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (
    link === null ||
    !isPlain ||
    link.origin !== location.origin ||
    link.download !== '' ||
    link.target !== ''
  )
    return;
  if (link.getAttribute('href')?.startsWith('#') === true) return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
});
