import { useState } from 'preact/hooks';
import type { GroupLine, GroupPage } from '../answers.ts';
import { Ask, perform, performNow } from './actions.tsx';
import { CountFilter } from './count-filter.tsx';
import { number } from './format.ts';
import { Button, Empty, Failure, Filters, Page, Search, State, Time, withoutAnswer } from './parts.tsx';
import { GroupTabs } from './platform-groups.tsx';
import { filterBy, given, pathTo } from './route.ts';
import { type PageColumn, selectionColumn, Table, usePages } from './table.tsx';
import { T } from './texts.ts';

export function Groups() {
  const params = { text: given('text'), state: given('state'), sort: given('sort') || 'state' };
  const sorting = { by: params.sort, set: (sort: string) => filterBy({ sort }) };
  const { answer, error, pages } = usePages('groups', params, ({ rows }: GroupPage) => rows);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const box = selectionColumn<GroupLine>({
    idOf: ({ id }) => id,
    nameOf: ({ id, name }) => name ?? id,
    chosen,
    choose: setChosen,
  });
  return (
    <Page title={T.nav.groups}>
      <GroupTabs current="groups" />
      <Filters>
        <Search label={T.groups.search} />
      </Filters>
      <CountFilter
        name="state"
        label={T.groups.columns.state}
        every={T.groups.all}
        total={answer?.total ?? 0}
        counts={Object.entries(answer?.states ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))}
        show={(state) => <State of={state} />}
      />
      <section class="card">
        {chosen.size > 0 ? (
          <Chosen ids={[...chosen]} clear={() => setChosen(new Set())} />
        ) : (
          <p class="muted" role="status">
            {answer === undefined ? T.loading : T.groups.found(answer.found, answer.total)}
          </p>
        )}
        {error !== undefined && <Failure>{error.message}</Failure>}
        <Table
          label={T.nav.groups}
          columns={[box, ...COLUMNS]}
          sorting={sorting}
          {...pages}
          keyOf={({ id }) => id}
          empty={<Empty title={answer?.total === 0 ? T.groups.empty : T.groups.none} />}
        />
      </section>
    </Page>
  );
}

export const Pause = ({ groups, done }: { groups: readonly string[]; done?: () => void }) => (
  <Ask
    title={T.groups.pauseTitle(groups.length)}
    text={T.groups.pauseText}
    use="pause"
    verb={T.groups.pause}
    needsReason
    run={async ({ reason }) => {
      // `paused` lists only groups that this action paused. So Undo resumes no group that was already paused.
      const undo = ({ paused }: { paused: readonly string[] }) =>
        performNow('resume', { groups: paused }, T.groups.resumed(paused.length));
      await perform('pause', { groups, reason }, T.groups.paused(groups.length), undo);
      done?.();
    }}
  />
);

function Chosen({ ids, clear }: { readonly ids: readonly string[]; readonly clear: () => void }) {
  const resume = () => performNow('resume', { groups: ids }, T.groups.resumed(ids.length)).then(clear);
  return (
    <div class="actions">
      <strong role="status">{T.groups.selected(ids.length)}</strong>
      <Pause groups={ids} done={clear} />
      <Button use="resume" onClick={resume}>
        {T.groups.resume}
      </Button>
      <Button kind="quiet" onClick={clear}>
        {T.groups.clear}
      </Button>
    </div>
  );
}

const COLUMNS: readonly PageColumn<GroupLine>[] = [
  {
    title: T.groups.columns.name,
    sort: 'name',
    of: ({ id, name, wanted, platform, pending }) => (
      <span class="who">
        <a href={pathTo('groups', id)}>{name ?? id}</a>
        <small class="muted roomy-text">{id}</small>
        <small class="muted narrow">{T.groups.counts(wanted, platform, pending)}</small>
      </span>
    ),
  },
  {
    title: T.groups.columns.state,
    sort: 'state',
    width: '150px',
    narrowWidth: '96px',
    of: ({ id, state, held, waitingSince }) => (
      <span class="who">
        {held ? (
          <a href={pathTo('holds', id)}>
            <State of="held" />
          </a>
        ) : (
          <State of={state} />
        )}
        {waitingSince !== null && (
          <small class="muted">
            <Time at={waitingSince} />
          </small>
        )}
      </span>
    ),
  },
  {
    title: T.groups.columns.reason,
    of: ({ held, waiting, lastError }) => {
      if (held) return T.groups.heldReason;
      const reason = waiting?.reason ?? lastError;
      return reason === null ? (
        <span class="muted">{T.none}</span>
      ) : (
        <span class="who">
          <span title={reason}>{withoutAnswer(reason)}</span>
          {waiting !== null && (
            <small class="muted">
              {T.groups.again} <Time at={waiting.until} />
            </small>
          )}
        </span>
      );
    },
    kind: 'wide',
  },
  {
    title: T.groups.columns.wanted,
    of: ({ wanted }) => number(wanted),
    kind: 'number wide',
    width: '84px',
    sort: 'wanted',
  },
  {
    title: T.groups.columns.platform,
    of: ({ platform, wanted, held }) => {
      if (platform === null) return <span class="muted">{T.none}</span>;
      return platform === wanted && !held ? number(platform) : <strong>{number(platform)}</strong>;
    },
    kind: 'number wide',
    width: '120px',
    sort: 'platform',
  },
  {
    title: T.groups.columns.pending,
    of: ({ pending }) => (pending === 0 ? <span class="muted">0</span> : <strong>{number(pending)}</strong>),
    kind: 'number wide',
    width: '84px',
    sort: 'pending',
  },
  {
    title: T.groups.columns.source,
    of: ({ source }) => (source === null ? <span class="muted">{T.none}</span> : T.conn.sources[source]),
    kind: 'wide',
    width: '110px',
    sort: 'source',
  },
  {
    title: T.groups.columns.write,
    of: ({ lastWriteAt }) => <Time at={lastWriteAt} />,
    kind: 'number wide',
    width: '110px',
    sort: 'write',
  },
];
