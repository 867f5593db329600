import { useEffect, useRef, useState } from 'preact/hooks';
import type { Activity as ActivityAnswer, Entry } from '../answers.ts';
import { csv, download, exact } from './format.ts';
import { get } from './net.ts';
import { Button, Empty, Failure, Field, Filters, Page, personName, Select, Time } from './parts.tsx';
import { filterBy, pathTo, query } from './route.ts';
import { type Column, Table, usePages } from './table.tsx';
import { T } from './texts.ts';

const FILTERS = ['person', 'group', 'actor', 'action'] as const;
const MAX_EXPORTED = 10_000;
const MINUTE_MS = 60_000;

export function Activity() {
  const filter = (name: string) => query.value.get(name) ?? '';
  const span = Number(filter('span'));
  const since = span === 0 ? undefined : sinceOf(span);
  const outcome = filter('outcome') || undefined;
  const params = {
    person: filter('person') || undefined,
    group: filter('group') || undefined,
    actor: filter('actor') || undefined,
    action: filter('action') || undefined,
    outcome,
    since,
  };
  const { answer, error, rowAt, onShow } = usePages<ActivityAnswer>(
    'activity',
    params,
    ({ entries }) => entries,
  );
  const [shown, show] = useState<Entry | null>(null);
  const saveAll = async () => {
    const { entries } = await get<ActivityAnswer>('activity', { ...params, count: MAX_EXPORTED });
    download('activity.csv', csv([T.activity.csv, ...entries.map(rowOf)]));
  };
  const details: Column<Entry> = {
    title: T.activity.details,
    unseen: true,
    kind: 'slim',
    of: (entry) => (
      <Button
        kind="quiet"
        label={T.activity.detailsOf(actionText(entry.action), entry.groupName ?? '')}
        onClick={() => show(entry)}
      >
        {T.activity.view}
      </Button>
    ),
  };
  return (
    <Page title={T.activity.title} aside={<Button onClick={saveAll}>{T.activity.export}</Button>}>
      <Filters>
        {FILTERS.map((name) => (
          <Field
            key={name}
            type="search"
            label={T.activity[name]}
            value={filter(name)}
            onInput={(value) => filterBy({ [name]: value })}
          />
        ))}
        <Select
          label={T.activity.outcome}
          value={filter('outcome')}
          options={{ '': T.activity.any, ...T.activity.outcomes }}
          onChange={(outcome) => filterBy({ outcome })}
        />
        <Select
          label={T.activity.since}
          value={filter('span')}
          options={T.activity.spans}
          onChange={(span) => filterBy({ span })}
        />
      </Filters>
      <section class="card">
        <p class="muted" role="status">
          {answer === undefined
            ? T.loading
            : `${T.activity.found(answer.found)}. ${answer.isCut ? T.activity.cut : ''}`}
        </p>
        {error !== undefined && <Failure>{error.message}</Failure>}
        {answer?.found === 0 ? (
          <Empty title={T.activity.none} />
        ) : (
          <Table
            label={T.activity.title}
            name="of-activity"
            columns={[...COLUMNS, details]}
            count={answer?.found ?? 0}
            rowAt={(index) => rowAt(index) as Entry | undefined}
            keyOf={({ at, action, group, version }) => `${at} ${action} ${group} ${version}`}
            onShow={onShow}
          />
        )}
      </section>
      {shown !== null && <Details entry={shown} close={() => show(null)} />}
    </Page>
  );
}

/** Rounded to the minute, so that requests within a minute are equal. */
const sinceOf = (hours: number): string =>
  new Date((Math.floor(Date.now() / MINUTE_MS) - hours * 60) * MINUTE_MS).toISOString();

const COLUMNS: readonly Column<Entry>[] = [
  {
    title: T.activity.what,
    of: (entry) => (
      <span class="who">
        <span>
          {entry.group === null ? (
            T.activity.connection
          ) : (
            <a href={pathTo('groups', entry.group)}>{entry.groupName ?? entry.group}</a>
          )}{' '}
          {actionText(entry.action)}
        </span>
        <small class="muted">
          {entry.changes.map((change) => changeText(change, entry)).join(', ') || entry.cause}
        </small>
      </span>
    ),
  },
  { title: T.activity.actor, of: (entry) => actorText(entry), kind: 'wide' },
  {
    title: T.activity.outcome,
    of: ({ outcome }) => (
      <span class={outcome === 'rejected' ? 'bad-text' : 'muted'}>{outcomeText(outcome)}</span>
    ),
    kind: 'wide',
  },
  { title: T.hold.columns.since, of: ({ at }) => <Time at={at} />, kind: 'slim' },
];

function Details({ entry, close }: { readonly entry: Entry; readonly close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label={T.activity.details} onClose={close}>
      <ol class="entries">
        <EntryLine entry={entry} open />
      </ol>
      <div class="actions end">
        <Button onClick={() => dialog.current?.close()}>{T.close}</Button>
      </div>
    </dialog>
  );
}

const rowOf = (entry: Entry) => [
  entry.at,
  actorText(entry),
  actionText(entry.action),
  entry.groupName ?? entry.group,
  outcomeText(entry.outcome),
  entry.cause,
  entry.changes.map((change) => changeText(change, entry)).join('; '),
];

const actionText = (action: string): string => T.activity.actions[action] ?? action.replaceAll('_', ' ');
const outcomeText = (outcome: string): string => T.activity.outcomes[outcome] ?? outcome;

function actorText({ actor }: Entry): string {
  if (actor.kind === 'groupsync') return T.activity.groupsync;
  return actor.name ?? (actor.id || T.activity.someone);
}

function changeText({ kind, member, before, after }: Entry['changes'][number], { people }: Entry): string {
  const id = member ?? after ?? before ?? '';
  const known = Object.hasOwn(people, id) ? people[id] : undefined;
  const who = known === undefined ? id : personName(known);
  const kindText = T.activity.kinds[kind]?.(who);
  if (kindText !== undefined) return kindText;
  return before !== null && after !== null
    ? `${short(before)} → ${short(after)}`
    : short(after ?? before ?? '');
}

const LONGEST = 80;
const short = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
const SHOWN = 4;

interface EntriesProps {
  readonly of: readonly Entry[];
  readonly none: string;
  readonly group?: boolean;
}

export const Entries = ({ of, none, group = true }: EntriesProps) =>
  of.length === 0 ? (
    <Empty title={none} />
  ) : (
    <ol class="entries">
      {of.map((entry, index) => (
        <EntryLine key={`${entry.at} ${index}`} entry={entry} group={group} />
      ))}
    </ol>
  );

interface EntryProps {
  readonly entry: Entry;
  readonly group?: boolean;
  readonly open?: boolean;
}

function EntryLine({ entry, group = true, open = false }: EntryProps) {
  const [isOpen, setOpen] = useState(open);
  const { at, action, outcome, changes, changeCount, cause, version } = entry;
  const shown = isOpen ? changes : changes.slice(0, SHOWN);
  const isBad = outcome === 'rejected';
  return (
    <li class={`entry by-${entry.actor.kind}`}>
      <Time at={at} />
      <div>
        <p>
          {group && entry.group !== null && (
            <a href={pathTo('groups', entry.group)}>{entry.groupName ?? entry.group}</a>
          )}
          {group && entry.group === null && <span>{T.activity.connection}</span>} {actionText(action)}
          <span class="muted"> · {actorText(entry)} · </span>
          <span class={isBad ? 'bad-text' : 'muted'}>{outcomeText(outcome)}</span>
        </p>
        {shown.length > 0 && (
          <p class="changes">
            {shown.map((change, index) => (
              <span key={index} title={change.reason}>
                {changeText(change, entry)}
              </span>
            ))}
            {changeCount > shown.length && changes.length > shown.length && (
              <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(true)}>
                {T.activity.more(changeCount - shown.length)}
              </button>
            )}
          </p>
        )}
        <p class="muted small" title={exact(at)}>
          {short(cause)}
          {version !== null && ` · ${version}`}
        </p>
      </div>
    </li>
  );
}
