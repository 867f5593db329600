import { useState } from 'preact/hooks';
import type { Activity as ActivityAnswer, Entry } from '../answers.ts';
import { EntryLine } from './entries.tsx';
import { csv, download } from './format.ts';
import { get } from './net.ts';
import {
  Button,
  Chevron,
  Dialog,
  Empty,
  Failure,
  FilterSelect,
  Filters,
  Page,
  Search,
  Time,
} from './parts.tsx';
import { given } from './route.ts';
import { actionText, actorText, changeText, outcomeText, Sentence } from './sentence.tsx';
import { type PageColumn, Table, usePages } from './table.tsx';
import { T } from './texts.ts';

const MAX_EXPORTED = 10_000;
const MINUTE_MS = 60_000;
/** On narrower screens, a sentence needs more lines. */
const NARROW_PX = 640;

export function Activity() {
  const span = Number(given('span'));
  const since = span === 0 ? undefined : sinceOf(span);
  const text = given('text');
  const params = { text: text || undefined, since };
  const { answer, error, pages } = usePages('activity', params, ({ entries }: ActivityAnswer) => entries);
  const [shown, show] = useState<Entry | null>(null);
  const saveAll = async () => {
    const { entries } = await get<ActivityAnswer>('activity', { ...params, count: MAX_EXPORTED });
    download('activity.csv', csv([T.activity.csv, ...entries.map(rowOf)]));
  };
  const details: PageColumn<Entry> = {
    title: T.activity.details,
    unseen: true,
    width: '44px',
    of: (entry) => (
      <Button
        kind="quiet"
        label={T.activity.detailsOf(actionText(entry.action), entry.groupName ?? '')}
        onClick={() => show(entry)}
      >
        <Chevron />
      </Button>
    ),
  };
  return (
    <Page title={T.nav.activity} aside={<Button onClick={saveAll}>{T.activity.export}</Button>}>
      <Filters>
        <Search label={T.activity.search} />
        <FilterSelect name="span" label={T.activity.since} options={T.activity.spans} />
      </Filters>
      <section class="card">
        <p class="muted" role="status">
          {answer === undefined
            ? T.loading
            : `${T.activity.found(answer.found)}. ${answer.isCut ? T.activity.cut : ''}`}
        </p>
        {error !== undefined && <Failure>{error.message}</Failure>}
        <Table
          label={T.nav.activity}
          columns={[...COLUMNS, details]}
          {...pages}
          keyOf={({ id, part }) => `${id} ${part}`}
          rowHeight={innerWidth < NARROW_PX ? 116 : 56}
          empty={<Empty title={T.activity.none} />}
        />
      </section>
      {shown !== null && (
        <Dialog label={T.activity.details} close={() => show(null)}>
          <ol class="entries">
            <EntryLine entry={shown} open />
          </ol>
        </Dialog>
      )}
    </Page>
  );
}

/** Rounded to the minute, so that requests within a minute are equal. */
const sinceOf = (hours: number): string =>
  new Date((Math.floor(Date.now() / MINUTE_MS) - hours * 60) * MINUTE_MS).toISOString();

const COLUMNS: readonly PageColumn<Entry>[] = [
  {
    title: T.activity.what,
    of: (entry) => (
      <p class="sentence">
        <Sentence entry={entry} />
      </p>
    ),
  },
  { title: T.activity.actor, of: (entry) => actorText(entry), kind: 'wide', width: '150px' },
  {
    title: T.activity.outcome,
    of: ({ outcome }) => (
      <span class={outcome === 'rejected' ? 'bad-text' : 'muted'}>{outcomeText(outcome)}</span>
    ),
    kind: 'wide',
    width: '130px',
  },
  { title: T.activity.time, of: ({ at }) => <Time at={at} />, width: '100px', narrowWidth: '96px' },
];

const rowOf = (entry: Entry) => [
  entry.at,
  actorText(entry),
  actionText(entry.action),
  entry.groupName ?? entry.group,
  outcomeText(entry.outcome),
  entry.cause,
  [...new Set(entry.changes.map(({ approved }) => approved?.by))].join(' '),
  entry.changes.map((change) => changeText(change, entry)).join('; '),
];
