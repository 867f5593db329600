import { useState } from 'preact/hooks';
import type { HeldPerson, HoldPage } from '../answers.ts';
import { csv, download, exact } from './format.ts';
import { useAnswer } from './net.ts';
import {
  Answered,
  Ask,
  Button,
  Empty,
  Field,
  Member,
  Page,
  perform,
  personName,
  Section,
  Time,
} from './parts.tsx';
import { id, pathTo } from './route.ts';
import { type Column, selectionColumn, Table } from './table.tsx';
import { T } from './texts.ts';

export function Hold() {
  const loadable = useAnswer<HoldPage>('hold', { group: id.value });
  return <Answered loadable={loadable}>{(page) => <Shown {...page} />}</Answered>;
}

type Held = NonNullable<HoldPage['hold']>;

function Shown({ group, name, hold, approved, leaving, staying }: HoldPage) {
  const called = name ?? group;
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const users = leaving.flatMap(({ user }) => (picked.has(user) ? user : []));
  const pick = ({ user }: HeldPerson) => {
    const next = new Set(picked);
    if (!next.delete(user)) next.add(user);
    setPicked(next);
  };
  if (hold === null) {
    return (
      <Page title={T.hold.title(called)}>
        <section class="card">
          <Empty title={T.hold.gone}>
            {T.hold.goneText} <a href={pathTo('groups', group)}>{T.hold.back}</a>
          </Empty>
        </section>
      </Page>
    );
  }
  return (
    <Page
      title={T.hold.title(called)}
      aside={<Decide group={group} name={called} hold={hold} users={users} />}
    >
      <p class="lead">
        <strong>{T.hold.summary(hold.removes, called)}</strong> {T.hold.stayingText(staying.length)}
      </p>
      <p class="muted">
        {T.hold.created} <Time at={hold.createdAt} /> · {T.home.rules[hold.rule]} ·{' '}
        {hold.decision === 'waiting' ? (
          <>
            {T.hold.expires} <Time at={hold.expiresAt} />
          </>
        ) : (
          <strong>
            {T.hold.decided(hold.decision, hold.by ?? T.activity.someone)}: {hold.reason}
          </strong>
        )}{' '}
        · <a href={pathTo('groups', group)}>{T.hold.back}</a>
      </p>
      {approved !== null && <p class="muted">{T.hold.approvedPart(approved)}</p>}
      <People
        title={T.hold.leaving}
        people={leaving}
        file={`${group}-leave.csv`}
        picked={picked}
        pick={pick}
      />
      <People title={T.hold.staying} people={staying} file={`${group}-stay.csv`} />
    </Page>
  );
}

interface DecideProps {
  readonly group: string;
  readonly name: string;
  readonly hold: Held;
  /** The selected removals; an empty list means all. */
  readonly users: readonly string[];
}

function Decide({ group, name, hold, users }: DecideProps) {
  const { digest, removes, decision } = hold;
  const some = users.length > 0 && users.length < removes ? users : undefined;
  const count = some?.length ?? removes;
  const not = decision === 'waiting' ? undefined : T.home.holdDecided(decision);
  return (
    <>
      <Ask
        not={not}
        title={T.hold.rejectTitle}
        text={T.hold.rejectText(removes)}
        verb={T.hold.reject}
        needsReason
        run={({ reason }) => perform('reject', { group, digest, reason }, T.hold.rejected)}
      />
      <Ask
        kind="danger"
        not={not}
        title={T.hold.approveTitle(count)}
        text={
          T.hold.approveText(count, name) +
          (some === undefined ? '' : ` ${T.hold.othersHeld(removes - count)}`)
        }
        verb={T.hold.approve}
        danger
        needsReason
        run={({ reason }) => perform('approve', { group, digest, reason, users: some }, T.hold.approved)}
      >
        {some === undefined ? T.hold.approve : T.hold.approveSome(count)}
      </Ask>
    </>
  );
}

const NAME: Column<HeldPerson> = {
  title: T.hold.columns.name,
  of: (person) => <Member of={person} unknown={T.hold.unknown} />,
};
const DEPARTMENT: Column<HeldPerson> = {
  title: T.hold.columns.department,
  of: ({ department }) => department ?? <span class="muted">{T.none}</span>,
  kind: 'wide',
};
const EVENT_COLUMNS: readonly Column<HeldPerson>[] = [
  {
    title: T.hold.columns.why,
    of: ({ lastEvent }) =>
      lastEvent === null ? (
        <span class="muted">{T.none}</span>
      ) : (
        <span title={T.hold.event(lastEvent.event ?? '', lastEvent.source ?? '')}>
          {T.hold.what[lastEvent.what] ?? lastEvent.what}
          <small class="muted block">{lastEvent.event}</small>
        </span>
      ),
    kind: 'wide',
  },
  { title: T.hold.columns.since, of: ({ lastEvent }) => <Time at={lastEvent?.at ?? null} />, kind: 'slim' },
];

const calledOf = (person: HeldPerson) => personName(person) || person.user;

interface PeopleProps {
  readonly title: string;
  readonly people: readonly HeldPerson[];
  readonly file: string;
  readonly picked?: ReadonlySet<string>;
  readonly pick?: (person: HeldPerson) => void;
}

function People({ title, people, file, picked, pick }: PeopleProps) {
  const [text, setText] = useState('');
  const hasDepartments = people.some(({ department }) => department !== null);
  const searched = text.trim().toLowerCase();
  const found = people.filter(({ name, email, department, id, user }) =>
    [name, email, department, id, user].some((value) => value?.toLowerCase().includes(searched)),
  );
  const columns = hasDepartments ? [NAME, DEPARTMENT, ...EVENT_COLUMNS] : [NAME, ...EVENT_COLUMNS];
  if (pick !== undefined)
    columns.unshift(selectionColumn(calledOf, ({ user }) => picked?.has(user) === true, pick));
  const save = () =>
    download(
      file,
      csv([
        ['name', 'email', 'department', 'member', 'user', 'directory', 'at', 'event', 'source'],
        ...found.map(rowOf),
      ]),
    );
  return (
    <Section
      title={`${title} · ${people.length.toLocaleString('en')}`}
      aside={
        people.length > 0 && (
          <div class="actions">
            <Field type="search" label={T.hold.search} unseenLabel value={text} onInput={setText} />
            <Button kind="quiet" onClick={save}>
              {T.hold.csv}
            </Button>
          </div>
        )
      }
    >
      {found.length === 0 ? (
        <Empty title={people.length === 0 ? T.hold.none : T.hold.noMatch} />
      ) : (
        <Table
          label={title}
          name={`of-held ${hasDepartments ? '' : 'short'} ${pick === undefined ? '' : 'picks'}`}
          columns={columns}
          count={found.length}
          rowAt={(index) => found[index]}
          keyOf={({ user }) => user}
        />
      )}
    </Section>
  );
}

const rowOf = ({ name, email, department, id, user, lastEvent }: HeldPerson) => [
  name,
  email,
  department,
  id,
  user,
  lastEvent === null ? null : (T.hold.what[lastEvent.what] ?? lastEvent.what),
  lastEvent?.at == null ? null : exact(lastEvent.at),
  lastEvent?.event ?? null,
  lastEvent?.source ?? null,
];
