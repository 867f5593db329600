import { useEffect, useState } from 'preact/hooks';
import type { Home, PersonGroup, PersonName, PersonPage } from '../answers.ts';
import type { Explanation } from '../answers.ts';
import { EntryLine } from './activity.tsx';
import { tick } from './group.tsx';
import { type Asked, useAnswer } from './net.ts';
import {
  Answered,
  ask,
  Button,
  Empty,
  Field,
  Page,
  Person as PersonLink,
  perform,
  Section,
  sayPerson,
  Time,
} from './parts.tsx';
import { filterBy, id, pathTo, query } from './route.ts';
import { T } from './texts.ts';

export function People() {
  const text = query.value.get('text') ?? '';
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useAnswer<readonly PersonName[]>(asked === '' ? null : 'people', { text: asked }, false);
  return (
    <Page title={T.people.title}>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field
          type="search"
          label={T.people.search}
          unseenLabel
          value={text}
          onInput={(next) => filterBy({ text: next })}
        />
      </form>
      {asked === '' ? (
        <Unmatched />
      ) : (
        <section class="card">
          <Answered asked={found}>
            {(people) =>
              people.length === 0 ? (
                <Empty title={T.people.none(asked)} />
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

/** Whoever cannot be written, before anybody has searched. */
function Unmatched() {
  const asked: Asked<Home> = useAnswer<Home>('home');
  return (
    <>
      <p class="muted">{T.people.hint}</p>
      <Answered asked={asked}>
        {({ unmatched, unmatchedTotal }) =>
          unmatched.length > 0 && (
            <Section title={`${T.people.pendingTitle} · ${unmatchedTotal}`}>
              <ul class="list">
                {unmatched.map(({ person, cause, groups }) => (
                  <li key={person.id}>
                    <PersonLink of={person} />
                    <span class="verdict pending">{T.pending[cause] ?? cause}</span>
                    <span class="muted">{T.many(groups, 'group')}</span>
                  </li>
                ))}
              </ul>
            </Section>
          )
        }
      </Answered>
    </>
  );
}

export function Person() {
  const asked = useAnswer<PersonPage>('person', { member: id.value });
  return <Answered asked={asked}>{(page) => <Shown {...page} />}</Answered>;
}

function Shown({ person, attributes, bound, groups, timeline }: PersonPage) {
  const called = sayPerson(person);
  return (
    <Page title={called} aside={<Actions id={person.id} called={called} />}>
      <dl class="facts">
        {Object.entries({ id: person.id, ...attributes }).map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </div>
        ))}
        <div>
          <dt>{T.person.bound}</dt>
          <dd>
            {bound === null ? (
              <span class="verdict pending">{T.person.unbound}</span>
            ) : (
              `${bound.id} · ${bound.state}`
            )}
          </dd>
        </div>
      </dl>
      <Section title={`${T.person.groups} · ${groups.length}`}>
        {groups.length === 0 ? (
          <Empty title={T.person.noGroups} />
        ) : (
          <ul class="list of-person">
            {groups.map((group) => (
              <GroupOf key={group.group} of={group} member={person.id} />
            ))}
          </ul>
        )}
      </Section>
      <Section title={T.person.timeline}>
        {timeline.length === 0 ? (
          <Empty title={T.person.noTimeline} />
        ) : (
          <ol class="entries">
            {timeline.map((entry, index) => (
              <EntryLine key={`${entry.at} ${index}`} entry={entry} />
            ))}
          </ol>
        )}
      </Section>
    </Page>
  );
}

function GroupOf({ of, member }: { readonly of: PersonGroup; readonly member: string }) {
  const [isOpen, setOpen] = useState(false);
  const { group, name, directory, platform, pending } = of;
  const called = name ?? group;
  return (
    <li>
      <div class="line">
        <a href={pathTo('groups', group)}>{called}</a>
        <span class="side">
          {T.person.columns.directory} {tick(directory)}
        </span>
        <span class="side">
          {T.person.columns.platform} {tick(platform)}
        </span>
        <span class="verdict pending">{pending === null ? '' : (T.pending[pending] ?? pending)}</span>
        <button
          type="button"
          class="button"
          aria-expanded={isOpen}
          aria-label={T.person.explainOf(called)}
          onClick={() => setOpen(!isOpen)}
        >
          {T.person.explain}
        </button>
      </div>
      {isOpen && <Explained group={group} member={member} />}
    </li>
  );
}

/** From the event to the write, step by step. */
function Explained({ group, member }: { readonly group: string; readonly member: string }) {
  const asked = useAnswer<Explanation>('explain', { group, member });
  return (
    <Answered asked={asked}>
      {({ present, because, events, match, decision, write }) => (
        <div class="explained">
          <p>
            <strong>{present ? T.person.in : T.person.out}</strong> {because}
          </p>
          <ol class="steps">
            <li>
              <b>{T.person.steps.event}</b>
              {events.length === 0 && <p>{T.person.noEvent}</p>}
              {events.map(({ register, says, id, source, time }) => (
                <p key={register}>
                  {register}: {says}{' '}
                  <small class="muted">
                    {id} · {source} · <Time at={time} />
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
                    found.map(({ id, state }) => `${id} (${state})`).join(', ') || T.person.nobody,
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

function Actions({ id, called }: { readonly id: string; readonly called: string }) {
  return (
    <>
      <Button
        onClick={() =>
          ask({
            title: T.person.rebindTitle(called),
            text: T.person.rebindText,
            verb: T.person.rebind,
            field: { label: T.person.rebindRole },
            run: ({ value }) => perform('rebind', { member: id, role: value.trim() }, T.person.rebound),
          })
        }
      >
        {T.person.rebind}
      </Button>
      <Button
        kind="danger"
        onClick={() =>
          ask({
            title: T.person.forgetTitle(called),
            text: T.person.forgetText,
            verb: T.person.forget,
            danger: true,
            run: () => perform('forget', { member: id }, T.person.forgotten),
          })
        }
      >
        {T.person.forget}
      </Button>
    </>
  );
}
