import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { get, live, type Params } from './net.ts';
import { connection } from './route.ts';
import { T } from './texts.ts';

export interface PageColumn<Row> {
  readonly title: string;
  readonly of: (row: Row) => ComponentChildren;
  /** Replaces the title, for example a checkbox that selects all rows. */
  readonly head?: ComponentChildren;
  /** `number`: right-aligned; `wide`: hidden on narrow screens; `roomy`: hidden on very narrow screens. */
  readonly kind?: 'number' | 'wide' | 'number wide' | 'number roomy' | 'roomy';
  /** The width as a CSS grid track. A column without a width shares the remaining space. */
  readonly width?: string;
  readonly narrowWidth?: string;
  /** True if the title is for screen readers only. */
  readonly unseen?: boolean;
  /** The name of this order in the query, if the list can be sorted by this column. */
  readonly sort?: string;
}

/** How a list is sorted, and how to change it. A text that begins with `-` sorts in descending order. */
interface Sorting {
  readonly by: string;
  readonly set: (by: string) => void;
}

/** The texts by which a list on the page is sorted, by the `sort` of a column. */
export type Sorts<Row> = Readonly<Record<string, (row: Row) => string>>;

export function sortedBy<Row>(rows: readonly Row[], sorts: Sorts<Row>, by: string): readonly Row[] {
  const textOf = sorts[by.replace(/^-/, '')];
  if (textOf === undefined) return rows;
  const sign = by.startsWith('-') ? -1 : 1;
  return rows.toSorted((a, b) => sign * textOf(a).localeCompare(textOf(b), undefined, { numeric: true }));
}

/** Widths of the columns for wide, narrow and very narrow screens; the style sheet selects one of them. */
function tracksOf<Row>(columns: readonly PageColumn<Row>[]) {
  const tracks = (hidden: readonly string[], isNarrow: boolean) =>
    columns
      .filter(({ kind = '' }) => !hidden.some((one) => kind.includes(one)))
      .map(({ width = 'minmax(0, 1fr)', narrowWidth = width }) => (isNarrow ? narrowWidth : width))
      .join(' ');
  return {
    '--wide': tracks([], false),
    '--narrow': tracks(['wide'], true),
    '--slim': tracks(['wide', 'roomy'], true),
  };
}

function Head<Row>({
  column,
  sorting,
}: {
  readonly column: PageColumn<Row>;
  readonly sorting?: Sorting | undefined;
}) {
  const { title, kind, unseen, head, sort } = column;
  const [isUp, isDown] = [sorting?.by === sort, sorting?.by === `-${sort}`];
  const order = isUp ? ('ascending' as const) : ('descending' as const);
  const isSortable = sort !== undefined && sorting !== undefined;
  return (
    <div
      role="columnheader"
      class={`cell ${kind ?? ''}`}
      aria-sort={isSortable && (isUp || isDown) ? order : undefined}
    >
      {isSortable ? (
        <button type="button" class="sort" onClick={() => sorting.set(isUp ? `-${sort}` : sort)}>
          {title}
          {isUp && <span aria-hidden="true"> ↑</span>}
          {isDown && <span aria-hidden="true"> ↓</span>}
        </button>
      ) : (
        (head ?? <span class={unseen === true ? 'unseen' : ''}>{title}</span>)
      )}
    </div>
  );
}

interface Selection<Row> {
  readonly idOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  readonly chosen: ReadonlySet<string>;
  readonly choose: (chosen: ReadonlySet<string>) => void;
  /** False for a row without a checkbox. */
  readonly mayChoose?: (row: Row) => boolean;
  /** The rows that a checkbox in the head selects or clears. Without rows, there is no checkbox in the head. */
  readonly all?: { readonly label: string; readonly rows: readonly Row[] };
}

export function selectionColumn<Row>(selection: Selection<Row>): PageColumn<Row> {
  const { idOf, nameOf, chosen, choose, mayChoose = () => true, all } = selection;
  const change = (rows: readonly Row[], isChosen: boolean) => {
    const next = new Set(chosen);
    for (const row of rows) {
      if (isChosen) next.add(idOf(row));
      else next.delete(idOf(row));
    }
    choose(next);
  };
  const box = (label: string, rows: readonly Row[]) => {
    const isChosen = rows.every((row) => chosen.has(idOf(row)));
    return (
      <input type="checkbox" aria-label={label} checked={isChosen} onChange={() => change(rows, !isChosen)} />
    );
  };
  return {
    title: T.groups.selectTitle,
    unseen: true,
    width: '18px',
    head: all === undefined || all.rows.length === 0 ? undefined : box(all.label, all.rows),
    of: (row) => mayChoose(row) && box(T.groups.select(nameOf(row)), [row]),
  };
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly PageColumn<Row>[];
  /** The rows of a list that is loaded as a whole. A list in pages has `count` and `rowAt` instead. */
  readonly rows?: readonly Row[];
  /** undefined while the list is loading: the table then shows placeholders. */
  readonly count?: number | undefined;
  /** Returns undefined for a row that is not loaded yet. */
  readonly rowAt?: (index: number) => Row | undefined;
  readonly empty: ComponentChildren;
  readonly keyOf: (row: Row) => string;
  readonly rowHeight?: number;
  readonly sorting?: Sorting;
  readonly onShow?: (from: number, to: number) => void;
}

const EXTRA_ROWS = 8;
const LOADING_ROWS = 8;

/** A virtual table. It renders only the rows near the visible area. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, sorting, rows: all, keyOf, rowHeight = 48, onShow } = props;
  const { count: known = all?.length, rowAt = (index: number) => all?.[index] } = props;
  const count = known ?? LOADING_ROWS;
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
  if (count === 0) return <>{props.empty}</>;
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
    <div
      class="table"
      style={tracksOf(columns)}
      role="table"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-busy={known === undefined}
    >
      <div role="rowgroup">
        <div role="row" class="row head" aria-rowindex={1}>
          {columns.map((column) => (
            <Head key={column.title} column={column} sorting={sorting} />
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
export function usePages<Answer extends { readonly found: number }, Row>(
  name: string,
  params: Params,
  rowsOf: (answer: Answer) => readonly Row[],
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
    /** The props of the table. */
    pages: {
      count: newest?.found,
      rowAt: (index: number) => {
        const answer = pages.get(Math.floor(index / PAGE));
        return answer === undefined ? undefined : rowsOf(answer)[index % PAGE];
      },
      onShow: (from: number, to: number) => {
        const next = { first: Math.floor(from / PAGE), last: Math.max(0, Math.floor((to - 1) / PAGE)) };
        if (next.first !== span.first || next.last !== span.last) setSpan(next);
      },
    },
  };
}
