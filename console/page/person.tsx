import { useEffect, useState } from 'preact/hooks';
import type {
  Explanation,
  PersonGroup,
  PersonName,
  PersonPage,
  UnmatchedPage,
  Unmatched as UnmatchedRow,
} from '../answers.ts';
import { Ask, perform } from './actions.tsx';
import { Block, BlockNotice, Unblock } from './block.tsx';
import { Entries } from './entries.tsx';
import { number } from './format.ts';
import { useAnswer } from './net.ts';
import {
  Answered,
  Button,
  Chevron,
  Empty,
  Facts,
  Failure,
  FilterSelect,
  Filters,
  Page,
  Person as PersonLink,
  personName,
  Search,
  Section,
  Time,
} from './parts.tsx';
import { filterBy, given, id, pathTo } from './route.ts';
import { DeliveryLink } from './sentence.tsx';
import { type PageColumn, Table, usePages } from './table.tsx';
import { T } from './texts.ts';

export function People() {
  const text = given('text');
  const [searched, setSearched] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useAnswer<readonly PersonName[]>(
    searched === '' ? null : 'people',
    { text: searched },
    false,
  );
  return (
    <Page title={T.nav.people}>
      <Filters>
        <Search label={T.people.search} />
      </Filters>
      {searched === '' ? (
        <Unmatched />
      ) : (
        <section class="card">
          <Answered loadable={found}>
            {(people) =>
              people.length === 0 ? (
                <Empty title={T.people.none(searched)} />
              ) : (
                <ul class="list">
                  {people.map((person) => (
                    <li key={person.id}>
                      <PersonLink of={person} />
                    </li>
                  ))}
                </ul>
              )
            }
          </Answered>
        </section>
      )}
    </Page>
  );
}

/** Pending people; shown until the operator searches. */
function Unmatched() {
  const params = { cause: given('cause'), sort: given('sort') };
  const { answer, error, pages } = usePages('unmatched', params, ({ rows }: UnmatchedPage) => rows);
  const causes = Object.entries(answer?.causes ?? {});
  return (
    <Section title={T.people.pendingTitle}>
      <p class="muted">{T.people.hint}</p>
      {causes.length > 1 && (
        <FilterSelect
          name="cause"
          label={T.people.columns.cause}
          options={{
            '': T.groups.all,
            ...Object.fromEntries(causes.map(([cause]) => [cause, causeText(cause)])),
          }}
        />
      )}
      {error !== undefined && <Failure>{error.message}</Failure>}
      <Table
        label={T.people.pendingTitle}
        columns={PENDING_COLUMNS}
        sorting={{ by: params.sort, set: (sort) => filterBy({ sort }) }}
        {...pages}
        keyOf={({ person }) => person.id}
        empty={<Empty title={T.people.noPending} />}
      />
    </Section>
  );
}

const causeText = (cause: string): string => T.pending[cause] ?? cause;

const PENDING_COLUMNS: readonly PageColumn<UnmatchedRow>[] = [
  { title: T.people.columns.name, of: ({ person }) => <PersonLink of={person} /> },
  {
    title: T.people.columns.department,
    of: ({ department }) => department ?? <span class="muted">{T.none}</span>,
    kind: 'wide',
    width: 'minmax(0, 0.6fr)',
  },
  {
    title: T.people.columns.cause,
    of: ({ person, cause, rehire }) => (
      <span class="who">
        <span class="verdict pending">{causeText(cause)}</span>
        <Rehire of={person} to={rehire} />
      </span>
    ),
    width: 'minmax(0, 0.8fr)',
  },
  {
    title: T.people.columns.groups,
    of: ({ groups }) => number(groups),
    kind: 'number roomy',
    width: '84px',
    sort: 'groups',
  },
  {
    title: T.people.columns.since,
    of: ({ sinceMs }) => <Time at={new Date(sinceMs).toISOString()} />,
    kind: 'wide',
    width: '110px',
    sort: 'since',
  },
];

export function Person() {
  const loadable = useAnswer<PersonPage>('person', { member: id.value });
  return <Answered loadable={loadable}>{(page) => <Shown {...page} reload={loadable.reload} />}</Answered>;
}

function Shown({
  person,
  attributes,
  bound,
  rehire,
  groups,
  blocked,
  timeline,
  reload,
}: PersonPage & Pick<Acting, 'reload'>) {
  const called = personName(person);
  const unbound = <span class="verdict pending">{T.person.unbound}</span>;
  // After an erasure, the attributes are empty. A value that is already shown is not repeated.
  const stored = Object.fromEntries(
    Object.entries(attributes).filter(
      ([, value], at, all) =>
        value !== '' && value !== called && all.findIndex(([, other]) => other === value) === at,
    ),
  );
  const who = bound === null ? unbound : `${bound.id} · ${bound.state}`;
  return (
    <Page
      title={called}
      aside={
        <>
          <Rehire of={person} to={rehire} />
          <Actions id={person.id} called={called} isBlocked={blocked !== null} reload={reload} />
        </>
      }
    >
      {blocked !== null && <BlockNotice of={blocked} />}
      <Facts
        of={[
          ...Object.entries({ id: person.id, ...stored }),
          [T.person.bound, who],
          [
            T.nav.deliveries,
            <a key="d" href={pathTo('deliveries', '', { member: person.id })}>
              {T.home.view}
            </a>,
          ],
        ]}
      />
      <Section title={`${T.person.groups} · ${groups.length}`}>
        {groups.length === 0 ? (
          <Empty title={T.person.noGroups} />
        ) : (
          <ul class="list of-person">
            {groups.map((group) => (
              <GroupOf key={`${group.group} ${group.member}`} of={group} shown={person.id} />
            ))}
          </ul>
        )}
      </Section>
      <Section title={T.person.timeline}>
        <Entries of={timeline} none={T.person.noTimeline} />
      </Section>
    </Page>
  );
}

function GroupOf({ of, shown }: { readonly of: PersonGroup; readonly shown: string }) {
  const [isOpen, setOpen] = useState(false);
  const { group, member, name, directory, platform, pending, since } = of;
  const called = name ?? group;
  return (
    <li>
      <div class="line">
        <span>
          <a href={pathTo('groups', group)}>{called}</a>{' '}
          {member !== shown && (
            <a class="muted" href={pathTo('people', member)}>
              {T.person.asMember(member)}
            </a>
          )}
        </span>
        <span class="side">
          {T.person.columns.directory}: {directory ? T.group.yes : T.group.no}
        </span>
        <span class={directory === platform ? 'side' : 'side differs'}>
          {T.person.columns.platform}: {platform ? T.group.yes : T.group.no}
        </span>
        <span class="verdict pending">{pending === null ? '' : (T.pending[pending] ?? pending)}</span>
        <span class="side muted">
          <Time at={since} />
        </span>
        <Button
          kind="quiet"
          isOpen={isOpen}
          onClick={() => setOpen(!isOpen)}
          label={T.person.explainOf(called)}
        >
          <Chevron />
        </Button>
      </div>
      {isOpen && <Explained group={group} member={member} />}
    </li>
  );
}

function Explained({ group, member }: { readonly group: string; readonly member: string }) {
  const loadable = useAnswer<Explanation>('explain', { group, member });
  return (
    <Answered loadable={loadable}>
      {({ present, because, events, match, decision, write }) => (
        <div class="explained">
          <p>
            <strong>{present ? T.person.in : T.person.out}</strong> {because}
          </p>
          <ol class="steps">
            <li>
              <b>{T.person.steps.event}</b>
              {events.length === 0 && <p>{T.person.noEvent}</p>}
              {events.map(({ register, summary, id, source, time }) => (
                <p key={register}>
                  {register}: {summary}{' '}
                  <small class="muted">
                    <DeliveryLink id={id ?? ''} at={time}>
                      {id}
                    </DeliveryLink>{' '}
                    · {source} · <Time at={time} />
                  </small>
                </p>
              ))}
            </li>
            <li>
              <b>{T.person.steps.match}</b>
              {match.rules.length === 0 && <p>{T.person.noMatch}</p>}
              {match.rules.map(({ rule, value, found }) => (
                <p key={rule}>
                  {T.person.rule(
                    rule,
                    value,
                    found.map(({ id, state }) => `${id} (${state})`).join(', ') || T.person.noEmployee,
                  )}
                </p>
              ))}
            </li>
            <li>
              <b>{T.person.steps.decision}</b>
              <p>{decision.detail}</p>
            </li>
            <li>
              <b>{T.person.steps.write}</b>
              {write === null ? (
                <p>{T.person.noWrite}</p>
              ) : (
                <p>
                  {write.action}: {write.reason}{' '}
                  <small class="muted">
                    <Time at={write.at} /> · {write.cause} · {write.versionAfter ?? T.none}
                  </small>
                </p>
              )}
            </li>
          </ol>
        </div>
      )}
    </Answered>
  );
}

/** Offers to bind a person who was hired again to the new employee. */
function Rehire({ of, to }: { readonly of: PersonName; readonly to: string | null }) {
  if (to === null) return null;
  const run = () => perform('rebind', { member: of.id, role: to }, T.person.rebound);
  return (
    <Ask
      title={T.person.rebindTitle(personName(of))}
      text={T.person.rehireText(to)}
      use="rebind"
      verb={T.person.rehire(to)}
      run={run}
    />
  );
}

interface Acting {
  readonly id: string;
  readonly called: string;
  readonly isBlocked: boolean;
  readonly reload: () => Promise<void>;
}

function Actions({ id, called, isBlocked, reload }: Acting) {
  const BlockOrUnblock = isBlocked ? Unblock : Block;
  return (
    <>
      <BlockOrUnblock person={id} called={called} reload={reload} />
      <Ask
        title={T.person.rebindTitle(called)}
        text={T.person.rebindText}
        use="rebind"
        verb={T.person.rebind}
        field={{ label: T.person.rebindRole }}
        run={({ value }) => perform('rebind', { member: id, role: value.trim() }, T.person.rebound)}
      />
      <Ask
        kind="danger"
        title={T.person.forgetTitle(called)}
        text={T.person.forgetText}
        use="forget"
        verb={T.person.forget}
        danger
        run={() => perform('forget', { member: id }, T.person.forgotten)}
      />
    </>
  );
}
