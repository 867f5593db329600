import type { HoldLine, Holds as HoldsAnswer } from '../answers.ts';
import { Entries } from './entries.tsx';
import { percent } from './format.ts';
import { useAnswer } from './net.ts';
import { Answered, Empty, Page, Section, Time } from './parts.tsx';
import { filterBy, given, pathTo } from './route.ts';
import { type PageColumn, type Sorts, sortedBy, Table } from './table.tsx';
import { T } from './texts.ts';

/** All holds of the connection. Without a chosen column, holds that wait for a decision come first. */
export function Holds() {
  const loadable = useAnswer<HoldsAnswer>('holds');
  const sort = given('sort');
  return (
    <Page title={T.nav.holds}>
      <Answered loadable={loadable}>
        {({ holds, decided }) => (
          <>
            <section class="card">
              <Table
                label={T.nav.holds}
                columns={COLUMNS}
                rows={sortedBy(holds, SORTS, sort)}
                keyOf={({ group, digest }) => `${group} ${digest}`}
                sorting={{ by: sort, set: (by) => filterBy({ sort: by }) }}
                empty={<Empty title={T.holds.empty}>{T.holds.emptyText}</Empty>}
              />
            </section>
            {decided.length > 0 && (
              <Section title={T.holds.decided}>
                <Entries of={decided} none={T.holds.empty} />
              </Section>
            )}
          </>
        )}
      </Answered>
    </Page>
  );
}

const SORTS: Sorts<HoldLine> = {
  group: ({ group, name }) => name ?? group,
  removes: ({ removes }) => String(removes),
  created: ({ createdAt }) => createdAt,
  decision: ({ decision }) => T.hold.decisions[decision],
};

const COLUMNS: readonly PageColumn<HoldLine>[] = [
  {
    title: T.holds.columns.group,
    sort: 'group',
    width: 'minmax(0, 1.2fr)',
    of: ({ group, name }) => <a href={pathTo('holds', group)}>{name ?? group}</a>,
  },
  {
    title: T.holds.columns.removes,
    sort: 'removes',
    of: ({ removes, keeps, share }) => (
      <span class="who">
        <span>{T.holds.removals(removes)}</span>
        <small class="muted roomy-text">{T.holds.of(removes + keeps, percent(share))}</small>
        <small class="muted narrow">{T.holds.shortOf(removes + keeps, percent(share))}</small>
      </span>
    ),
  },
  {
    title: T.holds.columns.limit,
    of: ({ rule }) => T.home.rules[rule],
    kind: 'wide',
    width: 'minmax(0, 1.6fr)',
  },
  {
    title: T.holds.columns.created,
    sort: 'created',
    of: ({ createdAt }) => <Time at={createdAt} />,
    kind: 'roomy',
    width: '110px',
  },
  {
    title: T.holds.columns.decision,
    sort: 'decision',
    of: ({ decision }) => <span class={`verdict ${decision}`}>{T.hold.decisions[decision]}</span>,
    width: '170px',
    narrowWidth: '76px',
  },
];
