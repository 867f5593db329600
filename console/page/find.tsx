import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { GroupPage, PersonName } from '../answers.ts';
import { matchesText } from '../search.ts';
import { get, live } from './net.ts';
import { personName, refusalOf } from './parts.tsx';
import { connection, go, pathTo } from './route.ts';
import { type KnownPlace, PLACES } from './texts/find.ts';
import { T } from './texts.ts';

interface Found extends Omit<KnownPlace, 'kind' | 'words'> {
  readonly kind: keyof typeof T.find.kinds;
  readonly text?: string;
  readonly id?: string;
  readonly words?: string;
}

const hrefOf = ({ page, id, filters }: Found): string => pathTo(page, id, filters);

const isOpen = signal(false);
const openSearch = (): void => {
  isOpen.value = true;
};

addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
  event.preventDefault();
  if (connection.value !== '') openSearch();
});

const SHOWN = 5;
const SHORTEST = 2;
const PAUSE_MS = 200;

const SETTINGS = Object.entries(T.settings.of).map(([key, { title, text }]): Found => {
  const filters = { setting: key };
  return { kind: 'setting', title, text, words: key, page: 'connection', filters, use: 'preview-settings' };
});

const placesFor = (searched: string): readonly Found[] =>
  [...PLACES, ...SETTINGS].filter(
    ({ use, title, text, words }: Found) =>
      refusalOf(use) === undefined && matchesText([title, text, words], searched),
  );

async function namesFor(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const [groups, people] = await Promise.all([
    get<GroupPage>('groups', { text, sort: 'name', count: SHOWN }, signal),
    get<readonly PersonName[]>('people', { text }, signal),
  ]);
  return [
    ...groups.rows.map(({ id, name }): Found => {
      return { kind: 'group', title: name ?? id, text: id, page: 'groups', id };
    }),
    ...people.slice(0, SHOWN).map((person): Found => {
      const { id, email } = person;
      return { kind: 'person', title: personName(person), text: email ?? id, page: 'people', id };
    }),
  ];
}

/** One search over groups, people, pages, actions and settings, which Ctrl-K or Cmd-K opens. */
export function Find() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [names, setNames] = useState<readonly Found[]>([]);
  const [at, setAt] = useState(0);
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
    setText('');
  }, [isOpen.value]);
  useEffect(() => {
    setAt(0);
    setNames([]);
    const stopping = new AbortController();
    const search = () => namesFor(text.trim(), stopping.signal).then(setNames, () => undefined);
    const timer = text.trim().length < SHORTEST ? undefined : setTimeout(search, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [text]);
  const found = isOpen.value && live.value !== null ? [...names, ...placesFor(text).slice(0, 2 * SHOWN)] : [];
  const close = () => {
    isOpen.value = false;
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (step !== 0) setAt((at + step + found.length) % Math.max(1, found.length));
    else if (event.key !== 'Enter') return;
    event.preventDefault();
    const chosen = found[at];
    if (event.key !== 'Enter' || chosen === undefined) return;
    close();
    go(hrefOf(chosen));
  };
  // The types of Preact allow this role only with a datalist.
  const combobox: object = {
    role: 'combobox',
    'aria-expanded': found.length > 0,
    'aria-controls': 'found',
    'aria-activedescendant': found.length > 0 ? `found-${at}` : undefined,
  };
  return (
    <dialog ref={dialog} class="find" aria-label={T.find.title} onClose={close}>
      <input
        type="search"
        {...combobox}
        aria-label={T.find.title}
        autocomplete="off"
        spellcheck={false}
        placeholder={T.find.hint}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={press}
      />
      <div id="found" role="listbox" aria-label={T.find.results}>
        {found.map((one, index) => (
          <a
            key={`${one.kind} ${hrefOf(one)} ${one.title}`}
            id={`found-${index}`}
            role="option"
            aria-selected={index === at}
            tabIndex={-1}
            href={hrefOf(one)}
            onClick={close}
          >
            <span class="who">
              <span>{one.title}</span>
              <small class="muted">{one.text}</small>
            </span>
            <span class="muted">{T.find.kinds[one.kind]}</span>
          </a>
        ))}
      </div>
      {found.length === 0 && <p class="muted">{T.find.none}</p>}
    </dialog>
  );
}

export const FindButton = () => (
  <button type="button" class="button find-button" onClick={openSearch}>
    {T.find.button} <kbd>{T.find.keys}</kbd>
  </button>
);
