import { useState } from 'preact/hooks';
import type { HeldPeopleCause, HoldPage } from '../answers.ts';
import { Ask, perform } from './actions.tsx';
import { Entries } from './entries.tsx';
import { HeldPeople } from './hold-people.tsx';
import { useAnswer } from './net.ts';
import { Answered, Button, Empty, Facts, Page, Section, Tabs, Time } from './parts.tsx';
import { given, id, pathTo } from './route.ts';
import { DeliveryLink } from './sentence.tsx';
import { T } from './texts.ts';

export function Hold() {
  const set = given('set');
  const loadable = useAnswer<HoldPage>('hold', { group: id.value, set });
  return <Answered loadable={loadable}>{(page) => <Shown key={set} {...page} />}</Answered>;
}

type Held = NonNullable<HoldPage['hold']>;

function Shown(page: HoldPage) {
  const { group, name, hold, leaving, staying, causes } = page;
  const called = name ?? group;
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  if (hold === null) {
    return (
      <Page title={T.hold.title(called)}>
        <section class="card">
          <Empty title={T.hold.gone}>
            {T.hold.goneText} <a href={pathTo('groups', group)}>{T.home.failedNext}</a>
          </Empty>
        </section>
        <Decided of={page.decided} />
      </Page>
    );
  }
  const users = leaving.flatMap(({ user }) => (picked.has(user) ? user : []));
  const heldTitle = T.hold.people[hold.decision];
  const set = given('set');
  const showsStaying = given('people') === 'staying';
  return (
    <Page
      title={T.hold.title(called)}
      aside={
        <a class="button" href={pathTo('groups', group)}>
          {T.home.failedNext}
        </a>
      }
    >
      <Cause page={page} hold={hold} />
      <Tabs
        label={T.hold.parts}
        current={showsStaying ? 'staying' : 'leaving'}
        of={[
          [
            'leaving',
            `${heldTitle} · ${leaving.length.toLocaleString('en')}`,
            pathTo('holds', group, { set }),
          ],
          [
            'staying',
            `${T.hold.staying} · ${staying.length.toLocaleString('en')}`,
            pathTo('holds', group, { set, people: 'staying' }),
          ],
        ]}
      />
      {showsStaying ? (
        <HeldPeople
          key="staying"
          title={T.hold.staying}
          people={staying}
          causes={[]}
          file={`${group}-stay.csv`}
        />
      ) : (
        <HeldPeople
          key="leaving"
          title={heldTitle}
          people={leaving}
          causes={causes}
          file={`${group}-leave.csv`}
          selection={hold.decision === 'waiting' ? { picked, setPicked } : undefined}
        >
          {hold.decision === 'waiting' && (
            <Decide
              group={group}
              name={called}
              hold={hold}
              users={users}
              clear={() => setPicked(new Set())}
            />
          )}
        </HeldPeople>
      )}
      <Decided of={page.decided} />
    </Page>
  );
}

/** What was decided about earlier removals, and who was removed. */
const Decided = ({ of }: { readonly of: HoldPage['decided'] }) =>
  of.length === 0 ? null : (
    <Section title={T.hold.earlier}>
      <Entries of={of} none={T.hold.none} group={false} />
    </Section>
  );

/** The cause of the removals, the limit that holds them, and the decision if there is one. */
function Cause({ page, hold }: { readonly page: HoldPage; readonly hold: Held }) {
  const { group, name, causes, leaving, staying, others } = page;
  const leavingToo = others.flatMap(({ decision, removes }) => (decision === 'rejected' ? [] : removes));
  const all = leavingToo.reduce((sum, removes) => sum + removes, leaving.length + staying.length);
  const facts: (readonly [string, preact.ComponentChildren])[] = [
    [T.hold.created, <Time key="at" at={hold.createdAt} />],
    [T.hold.limit, T.home.rules[hold.rule]],
    [T.hold.expires, <Time key="until" at={hold.expiresAt} />],
  ];
  if (hold.decision !== 'waiting') {
    const by = T.hold.decided(hold.decision, hold.by ?? T.activity.someone);
    facts.push([T.hold.decision, `${by}: ${hold.reason}`]);
  }
  return (
    <section class="card cause">
      <p class="lead">
        <strong>{T.hold.summary[hold.decision](hold.removes, all, name ?? group)}</strong>
      </p>
      <ul class="causes">
        {causes.map((cause, place) => (
          <li key={place}>
            {T.hold.because(cause)} <small class="muted">{eventOf(cause)}</small>
          </li>
        ))}
      </ul>
      <Facts of={facts} />
      {others.map((one) => (
        <p key={one.digest} class="muted">
          {T.hold.otherSet[one.decision](one, T.home.rules[one.rule])}{' '}
          <a href={pathTo('holds', group, { set: one.digest })}>{T.hold.view}</a>
        </p>
      ))}
    </section>
  );
}

function eventOf({ event, source, at, by }: HeldPeopleCause) {
  if (event === null && source === null) return T.hold.noEvent;
  return (
    <>
      <DeliveryLink id={event ?? ''} at={at}>
        {T.hold.event(event ?? '', source ?? '')}
      </DeliveryLink>{' '}
      · <Time at={at} />
      {by !== null && ` · ${T.hold.sentBy(by)}`}
    </>
  );
}

interface DecideProps {
  readonly group: string;
  readonly name: string;
  readonly hold: Held;
  /** The selected removals; an empty list means all. */
  readonly users: readonly string[];
  readonly clear: () => void;
}

function Decide({ group, name, hold, users, clear }: DecideProps) {
  const { digest, removes } = hold;
  const isPart = users.length > 0 && users.length < removes;
  const some = isPart ? users : undefined;
  const count = isPart ? users.length : removes;
  const others = isPart ? ` ${T.hold.othersHeld(removes - count)}` : '';
  const approve = T.hold.approve(count, !isPart);
  const reject = T.hold.reject(count, !isPart);
  return (
    <div class="decide">
      <p role="status">
        {users.length === 0 ? T.hold.noneSelected(removes) : T.hold.selected(users.length, removes)}
      </p>
      <div class="actions">
        {users.length > 0 && (
          <Button kind="quiet" onClick={clear}>
            {T.groups.clear}
          </Button>
        )}
        <Ask
          title={T.hold.rejectTitle(count)}
          text={T.hold.rejectText(count) + others}
          verb={reject}
          use="reject"
          needsReason
          run={({ reason }) => perform('reject', { group, digest, reason, users: some }, T.hold.rejected)}
        />
        <Ask
          kind="danger"
          title={T.hold.approveTitle(count)}
          text={T.hold.approveText(count, name) + others}
          verb={approve}
          use="approve"
          danger
          needsReason
          run={({ reason }) => perform('approve', { group, digest, reason, users: some }, T.hold.approved)}
        />
      </div>
    </div>
  );
}
