import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { get, live, type Params } from './net.ts';
import { connection } from './route.ts';
import { T } from './texts.ts';

export interface Column<Row> {
  readonly title: string;
  readonly of: (row: Row) => ComponentChildren;
  /** `number`: right-aligned; `wide`: hidden on narrow screens; `roomy`: hidden on very narrow screens. */
  readonly kind?: 'number' | 'wide' | 'number wide' | 'slim' | 'roomy';
  /** True if only screen readers get the title. */
  readonly unseen?: boolean;
}

export const selectionColumn = <Row,>(
  nameOf: (row: Row) => string,
  isChosen: (row: Row) => boolean,
  choose: (row: Row) => void,
): Column<Row> => ({
  title: T.groups.selectTitle,
  unseen: true,
  kind: 'slim',
  of: (row) => (
    <input
      type="checkbox"
      aria-label={T.groups.select(nameOf(row))}
      checked={isChosen(row)}
      onChange={() => choose(row)}
    />
  ),
});

interface TableProps<Row> {
  readonly label: string;
  /** Class that gives the columns their widths. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly count: number;
  /** Returns undefined for a row that is not loaded yet. */
  readonly rowAt: (index: number) => Row | undefined;
  readonly keyOf: (row: Row) => string;
  readonly rowHeight?: number;
  readonly onShow?: (from: number, to: number) => void;
}

const EXTRA_ROWS = 8;

/** A virtual table. It renders only the rows near the visible area. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, name, columns, count, rowAt, keyOf, rowHeight = 48, onShow } = props;
  const body = useRef<HTMLDivElement>(null);
  const [span, setSpan] = useState({ from: 0, to: 40 });
  useLayoutEffect(() => {
    const measure = () => {
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const from = Math.max(0, Math.floor(-top / rowHeight) - EXTRA_ROWS);
      const to = Math.max(0, Math.ceil((innerHeight - top) / rowHeight) + EXTRA_ROWS);
      setSpan((before) => (before.from === from && before.to === to ? before : { from, to }));
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [count, rowHeight]);
  const to = Math.min(span.to, count);
  useEffect(() => onShow?.(span.from, to), [span.from, to, onShow]);
  const rows = [];
  for (let index = span.from; index < to; index += 1) {
    const row = rowAt(index);
    rows.push(
      <div
        role="row"
        aria-rowindex={index + 2}
        key={row === undefined ? index : keyOf(row)}
        class="row"
        style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
      >
        {columns.map(({ title, of, kind }) => (
          <div role="cell" key={title} class={`cell ${kind ?? ''}`}>
            {row === undefined ? <i class="ghost" /> : of(row)}
          </div>
        ))}
      </div>,
    );
  }
  return (
    <div class={`table ${name}`} role="table" aria-label={label} aria-rowcount={count + 1}>
      <div role="rowgroup">
        <div role="row" class="row head" aria-rowindex={1}>
          {columns.map(({ title, kind, unseen }) => (
            <div role="columnheader" key={title} class={`cell ${kind ?? ''}`}>
              <span class={unseen === true ? 'unseen' : ''}>{title}</span>
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="rows" ref={body} style={{ height: `${count * rowHeight}px` }}>
        {rows}
      </div>
    </div>
  );
}

const PAGE = 100;

/** Rows that the server filters and sorts, loaded when they become visible. */
export function usePages<Answer>(
  name: string,
  params: Params,
  rowsOf: (answer: Answer) => readonly unknown[],
) {
  const key = JSON.stringify([connection.value, name, params]);
  const [state, setState] = useState<{ key: string; pages: ReadonlyMap<number, Answer>; error?: Error }>({
    key,
    pages: new Map(),
  });
  const [span, setSpan] = useState({ first: 0, last: 0 });
  const revision = live.value?.revision;
  useEffect(() => {
    const stopping = new AbortController();
    const load = async (page: number) => {
      try {
        const from = page * PAGE;
        const answer = await get<Answer>(name, { ...params, from, count: PAGE }, stopping.signal);
        setState((before) => {
          const pages = new Map(before.key === key ? before.pages : []);
          return { key, pages: pages.set(page, answer) };
        });
      } catch (error) {
        if (!stopping.signal.aborted) {
          setState((before) =>
            before.key === key && before.pages.size > 0
              ? before
              : { key, pages: new Map(), error: error as Error },
          );
        }
      }
    };
    for (let page = span.first; page <= span.last; page += 1) void load(page);
    return () => stopping.abort();
  }, [key, revision, span.first, span.last]);
  const pages = state.key === key ? state.pages : new Map<number, Answer>();
  const [newest] = [...pages.values()].slice(-1);
  return {
    answer: newest,
    error: state.key === key ? state.error : undefined,
    rowAt: (index: number) => {
      const answer = pages.get(Math.floor(index / PAGE));
      return answer === undefined ? undefined : rowsOf(answer)[index % PAGE];
    },
    onShow: (from: number, to: number) => {
      const next = { first: Math.floor(from / PAGE), last: Math.max(0, Math.floor((to - 1) / PAGE)) };
      if (next.first !== span.first || next.last !== span.last) setSpan(next);
    },
  };
}
