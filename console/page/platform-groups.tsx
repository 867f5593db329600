import { useState } from 'preact/hooks';
import type { PlatformGroupRow, PlatformGroupsReport } from '../answers.ts';
import { matchesText } from '../search.ts';
import { Adoption, type PairToAdopt } from './adoption.tsx';
import { CountFilter } from './count-filter.tsx';
import { number } from './format.ts';
import { useAnswer } from './net.ts';
import { Answered, Button, Empty, Filters, Page, Search, State, Tabs } from './parts.tsx';
import { connection, given, pathTo } from './route.ts';
import { type PageColumn, selectionColumn, Table } from './table.tsx';
import { T } from './texts.ts';

/** Tabs for the list of directory groups and the list of platform groups. */
export const GroupTabs = ({ current }: { readonly current: 'groups' | 'platform-groups' }) => (
  <Tabs
    label={T.adoption.tabs}
    current={current}
    of={[
      ['groups', T.adoption.directory, pathTo('groups')],
      ['platform-groups', T.adoption.platform, pathTo('platform-groups')],
    ]}
  />
);

/** Every group of the platform, with the directory group that owns it or could adopt it. */
export function PlatformGroups() {
  const loadable = useAnswer<PlatformGroupsReport>('platformGroups', {}, false);
  return (
    <Page title={T.nav.groups}>
      <GroupTabs current="platform-groups" />
      <Answered loadable={loadable}>{(report) => <Shown {...report} reload={loadable.reload} />}</Answered>
    </Page>
  );
}

const mayAdopt = ({ state, ambiguous }: PlatformGroupRow) => state === 'adoptable' && !ambiguous;

function Shown({ groups, totals, reload }: PlatformGroupsReport & { readonly reload: () => Promise<void> }) {
  const { adoptable, unmanaged, managed } = totals;
  const text = given('text');
  const state = given('state');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isPreviewed, setPreviewed] = useState(false);
  const found = groups.filter(
    (row) =>
      (state === '' || row.state === state) && matchesText([row.platformId, row.name, row.spokeId], text),
  );
  const choose = (ids: ReadonlySet<string>) => {
    setChosen(ids);
    setPreviewed(false);
  };
  const possible = found.filter(mayAdopt);
  const boxes = selectionColumn<PlatformGroupRow>({
    idOf: ({ platformId }) => platformId,
    nameOf: ({ name, platformId }) => name ?? platformId,
    chosen,
    choose,
    mayChoose: mayAdopt,
    all: { label: T.adoption.selectAll(possible.length), rows: possible },
  });
  const pairs = groups.flatMap(({ platformId, matches: [match] }): readonly PairToAdopt[] =>
    match !== undefined && chosen.has(platformId) ? [{ group: match.group, platformId }] : [],
  );
  const done = () => {
    choose(new Set());
    void reload();
  };
  return (
    <>
      <p class="muted">{T.adoption.hint}</p>
      <Filters>
        <Search label={T.adoption.search} />
      </Filters>
      <CountFilter
        name="state"
        label={T.adoption.columns.state}
        every={T.groups.all}
        total={groups.length}
        counts={Object.entries({ adoptable, unmanaged, managed })}
        show={(one) => <State of={one} />}
      />
      {isPreviewed && <Adoption pairs={pairs} done={done} cancel={() => setPreviewed(false)} />}
      <section class="card">
        {chosen.size > 0 ? (
          <div class="actions">
            <strong role="status">{T.groups.selected(chosen.size)}</strong>
            {!isPreviewed && (
              <Button use="preview-adoptions" kind="primary" onClick={() => setPreviewed(true)}>
                {T.adoption.preview(chosen.size)}
              </Button>
            )}
            <Button kind="quiet" onClick={() => choose(new Set())}>
              {T.groups.clear}
            </Button>
          </div>
        ) : (
          <p class="muted" role="status">
            {T.adoption.found(found.length)}
          </p>
        )}
        <Table
          label={T.adoption.platform}
          columns={[boxes, ...COLUMNS]}
          rows={found}
          keyOf={({ platformId }) => platformId}
          rowHeight={56}
          empty={<Empty title={groups.length === 0 ? T.adoption.empty : T.groups.none} />}
        />
      </section>
    </>
  );
}

const SHOWN_MATCHES = 2;

function DirectoryGroup({ state, owner, matches, ambiguous }: PlatformGroupRow) {
  // The server hides the owner if the person has no role for the connection of the owner.
  if (owner === null && state === 'managed') return <span class="muted">{T.adoption.hiddenConnection}</span>;
  if (owner !== null && owner.name === null && owner.connection !== connection.value)
    return <span class="muted">{T.adoption.otherConnection(owner.connection)}</span>;
  if (owner !== null) return <a href={pathTo('groups', owner.group)}>{owner.name ?? owner.group}</a>;
  const [match] = matches;
  if (match === undefined) return <span class="muted">{T.none}</span>;
  const why = matches.length > 1 ? T.adoption.choose(matches.length) : T.adoption.chooseOther;
  return (
    <span class="who">
      {matches.slice(0, SHOWN_MATCHES).map(({ group, name }) => (
        <a key={group} href={pathTo('groups', group)}>
          {name}
        </a>
      ))}
      <small class="muted">{ambiguous ? why : T.adoption.by[match.by]}</small>
    </span>
  );
}

const COLUMNS: readonly PageColumn<PlatformGroupRow>[] = [
  {
    title: T.adoption.columns.name,
    of: ({ platformId, name, spokeId, state }) => (
      <span class="who">
        <span>{name ?? T.adoption.unnamed}</span>
        <small class="muted roomy-text">
          {spokeId === null ? platformId : `${platformId} · ${T.adoption.externalId(spokeId)}`}
        </small>
        <small class="muted narrow">{T.states[state]}</small>
      </span>
    ),
  },
  {
    title: T.adoption.columns.state,
    width: '130px',
    kind: 'wide',
    of: ({ state }) => <State of={state} />,
  },
  { title: T.adoption.columns.group, of: DirectoryGroup },
  {
    title: T.adoption.columns.users,
    of: ({ users }) => (users === null ? T.none : number(users)),
    kind: 'number wide',
    width: '84px',
  },
];
