import { signal } from '@preact/signals';
import { Dialog } from './parts.tsx';
import { go, pathTo } from './route.ts';
import { T } from './texts.ts';

/** The second key after `g`, and the page that it opens. */
const PLACES: Readonly<Record<string, string>> = {
  h: 'home',
  o: 'holds',
  g: 'groups',
  p: 'people',
  a: 'activity',
  d: 'dead-letters',
  c: 'connection',
};
/** Maximum time between `g` and the second key. */
const SECOND_KEY_MS = 1_500;

const isShown = signal(false);
let goUntilMs = 0;

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest('input:not([type="checkbox"]), textarea, select, dialog') !== null;

/**
 * Moves the focus to the first link or button of the next or previous row. If no row has the focus, of the first row.
 */
function moveTo(step: 1 | -1): void {
  const rows = [
    ...document.querySelectorAll<HTMLElement>('main .rows .row, main .list > li, main .needs > li'),
  ];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at === -1 ? 0 : at + step];
  next?.querySelector<HTMLElement>('a, button')?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function press({ key, timeStamp }: KeyboardEvent): boolean {
  const place = timeStamp < goUntilMs ? PLACES[key] : undefined;
  goUntilMs = 0;
  if (place !== undefined) go(pathTo(place));
  else if (key === '/') document.querySelector<HTMLElement>('main input[type="search"]')?.focus();
  else if (key === 'g') goUntilMs = timeStamp + SECOND_KEY_MS;
  else if (key === 'j' || key === 'k') moveTo(key === 'j' ? 1 : -1);
  else if (key === '?') isShown.value = true;
  else return false;
  return true;
}

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (press(event)) event.preventDefault();
});

export function Keys() {
  if (!isShown.value) return null;
  return (
    <Dialog label={T.keys.title} close={() => (isShown.value = false)}>
      <h2>{T.keys.title}</h2>
      <dl class="keys">
        {T.keys.list.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
