import { useState } from 'preact/hooks';
import type { GroupDetail, MemberLine, NamedPlan } from '../answers.ts';
import { matchesText } from '../search.ts';
import { ChoosePlatformGroup, Clashes } from './adoption.tsx';
import { Entries } from './entries.tsx';
import { minute, number } from './format.ts';
import { GroupActions, type OpenPart } from './group-actions.tsx';
import { useAnswer } from './net.ts';
import {
  Answered,
  Chips,
  Empty,
  Facts,
  Filters,
  Member,
  Page,
  Person,
  personName,
  Reason,
  Search,
  Section,
  State,
  Tabs,
  Time,
} from './parts.tsx';
import { Past } from './past.tsx';
import { filterBy, given, id, pathTo } from './route.ts';
import { type PageColumn, type Sorts, sortedBy, Table } from './table.tsx';
import { T } from './texts.ts';

export function Group() {
  const loadable = useAnswer<GroupDetail>('group', { group: id.value });
  return <Answered loadable={loadable}>{(detail) => <Shown {...detail} />}</Answered>;
}

function Shown(detail: GroupDetail) {
  const { status, held, users, members, history, mode } = detail;
  const { id, name, state, platformId, version, lastWriteAt, dirtySince, lastError, wanted } = status;
  const { pending, waiting } = status;
  const notice = status.moving ?? status.released;
  const [open, setOpen] = useState<OpenPart>(null);
  const tab = given('tab') || 'members';
  const facts: readonly (readonly [string, preact.ComponentChildren])[] = [
    [T.groups.columns.wanted, number(wanted)],
    [T.groups.columns.platform, users === null ? null : number(users)],
    [T.groups.columns.pending, number(pending.length)],
    [T.groups.columns.write, <Time key="w" at={lastWriteAt} />],
    ...(mode === 'authoritative' ? [] : [[T.group.facts.mode, mode] as const]),
    ...(dirtySince === null ? [] : [[T.group.facts.waiting, <Time key="d" at={dirtySince} />] as const]),
    [T.group.facts.id, id],
    [T.group.facts.platform, platformId],
    [T.group.facts.version, version],
    [
      T.nav.deliveries,
      <a key="v" href={pathTo('deliveries', '', { group: id })}>
        {T.home.view}
      </a>,
    ],
  ];
  return (
    <Page
      title={
        <>
          {name ?? id} <State of={held ? 'held' : state} />
        </>
      }
      aside={<GroupActions detail={detail} open={open} setOpen={setOpen} />}
    >
      {notice !== null && (
        <p class="notice warn">
          <Reason>{notice}</Reason>
        </p>
      )}
      {held && status.hold !== null && <p class="notice warn">{T.group.heldText(status.hold.removes)}</p>}
      {waiting !== null && waiting.reason !== lastError?.message && (
        <p class="notice warn">
          <Reason>{T.group.waits(minute(waiting.until), waiting.reason)}</Reason>
        </p>
      )}
      {lastError !== null && (
        <p class="notice bad">
          <strong>{T.group.facts.error}</strong> <Time at={lastError.at} />
          {waiting !== null && (
            <>
              {' '}
              ({T.group.triedAgain} {minute(waiting.until)})
            </>
          )}
          : <Reason>{lastError.message}</Reason>
        </p>
      )}
      <Facts of={facts} />
      {open === 'plan' && <Plan group={id} members={members} />}
      {open === 'adopt' && <ChoosePlatformGroup group={id} done={() => setOpen(null)} />}
      <Tabs
        label={T.group.tabs}
        current={tab}
        of={[
          ['members', `${T.group.members} · ${number(members.length)}`, pathTo('groups', id)],
          [
            'history',
            `${T.group.history} · ${number(history.length)}`,
            pathTo('groups', id, { tab: 'history' }),
          ],
        ]}
      />
      {tab === 'members' && <Members members={members} />}
      {tab === 'history' && (
        <>
          <Past group={id} />
          <section class="card">
            <Entries of={history} none={T.group.noHistory} group={false} />
          </section>
        </>
      )}
    </Page>
  );
}

function Plan({ group, members }: { readonly group: string; readonly members: readonly MemberLine[] }) {
  const loadable = useAnswer<NamedPlan>('plan', { group });
  const memberOf = (user: string) => members.find((member) => member.user === user);
  return (
    <Section title={T.group.planTitle}>
      <Answered loadable={loadable}>
        {({ action, changes, held, note, clashes }) => (
          <>
            <Clashes group={group} clashes={clashes} />
            {note !== null && <p class="notice warn">{note}</p>}
            {changes.length === 0 && held.length === 0 ? (
              <Empty title={T.group.planNone} />
            ) : (
              <ul class="plan" aria-label={action}>
                {changes.map(({ kind, before, after, reason }, index) => {
                  const who = memberOf(after ?? before ?? '');
                  return (
                    <li key={index}>
                      <b aria-hidden="true">{signOf(before, after)}</b>
                      <span>
                        {who === undefined ? (
                          [before, after].filter((side) => side !== null).join(' → ')
                        ) : (
                          <Person of={who} />
                        )}
                        <small class="muted block">
                          {kind.replaceAll('_', ' ')}: {reason}
                        </small>
                      </span>
                    </li>
                  );
                })}
              </ul>
            )}
          </>
        )}
      </Answered>
    </Section>
  );
}

/** Returns the sign of a change: + for added, − for removed, ± for changed. */
function signOf(before: string | null, after: string | null): string {
  if (before === null) return '+';
  return after === null ? '−' : '±';
}

/** Returns the state of a member as a key of `T.group.verdict`. */
function verdictOf({ directory, platform, pending, held }: MemberLine): string {
  if (pending !== null) return 'pending';
  if (held) return 'held';
  if (directory === platform) return 'same';
  return directory ? 'adding' : 'removing';
}

/** Shows words, because a dot or a circle would not be understood. */
const membership = (isMember: boolean) =>
  isMember ? <span>{T.group.yes}</span> : <span class="muted">{T.group.no}</span>;

const COLUMNS: readonly PageColumn<MemberLine>[] = [
  {
    title: T.group.columns.name,
    of: (member) => <Member of={member} unknown={T.group.unknownMember} />,
    width: 'minmax(0, 1.4fr)',
    sort: 'name',
  },
  {
    title: T.group.columns.department,
    of: ({ department }) => department ?? <span class="muted">{T.none}</span>,
    kind: 'wide',
    sort: 'department',
  },
  {
    title: T.group.columns.directory,
    of: ({ directory }) => membership(directory),
    kind: 'roomy',
    width: '110px',
    sort: 'directory',
  },
  {
    title: T.group.columns.groupsync,
    of: (member) => {
      const verdict = verdictOf(member);
      return (
        <span class="who">
          <span class={`verdict ${verdict}`}>{T.group.verdict[verdict]}</span>
          {member.pending !== null && (
            <small class="muted">{T.pending[member.pending] ?? member.pending}</small>
          )}
        </span>
      );
    },
    width: 'minmax(0, 0.8fr)',
    sort: 'groupsync',
  },
  {
    title: T.group.columns.platform,
    of: ({ platform }) => membership(platform),
    kind: 'roomy',
    width: '110px',
    sort: 'platform',
  },
  {
    title: T.group.columns.since,
    of: ({ since, source }) => (
      <span class="who">
        <Time at={since} />
        <small class="muted">{source}</small>
      </span>
    ),
    kind: 'wide',
    width: '140px',
    sort: 'since',
  },
];

const SORTS: Sorts<MemberLine> = {
  name: (member) => personName(member),
  department: ({ department }) => department ?? '',
  directory: ({ directory }) => String(directory),
  groupsync: verdictOf,
  platform: ({ platform }) => String(platform),
  since: ({ since }) => since ?? '',
};

function Members({ members }: { readonly members: readonly MemberLine[] }) {
  const differing = members.filter((member) => verdictOf(member) !== 'same');
  const all = given('show') === '' ? differing.length === 0 : given('show') === 'all';
  const sort = given('sort');
  const found = (all ? members : differing).filter(({ name, email, id, department }) =>
    matchesText([name, email, id, department], given('text')),
  );
  const shown = sortedBy(found, SORTS, sort);
  const hasDepartments = members.some(({ department }) => department !== null);
  const columns = COLUMNS.filter((column) => hasDepartments || column.sort !== 'department');
  const tabs = [
    ['differ', `${T.group.differ} · ${number(differing.length)}`],
    ['all', `${T.group.all} · ${number(members.length)}`],
  ] as const;
  return (
    <section class="card" aria-label={T.group.members}>
      <Filters>
        <Search label={T.group.search} />
        <Chips
          label={T.group.members}
          current={all ? 'all' : 'differ'}
          of={tabs}
          choose={(show) => filterBy({ show })}
        />
      </Filters>
      {differing.length === 0 && members.length > 0 && <p class="muted">{T.group.allSame}</p>}
      <Table
        label={T.group.members}
        columns={columns}
        sorting={{ by: sort, set: (by) => filterBy({ sort: by }) }}
        rows={shown}
        keyOf={({ id, user }) => `${id} ${user}`}
        empty={<Empty title={members.length === 0 ? T.group.noMembers : T.group.noMatch} />}
      />
    </section>
  );
}
