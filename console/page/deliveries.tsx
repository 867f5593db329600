import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Activity, Deliveries as DeliveriesAnswer, DeliveryLine, DeliverySurvey } from '../answers.ts';
import { Entries } from './entries.tsx';
import { duration, number, percent } from './format.ts';
import { useAnswer } from './net.ts';
import {
  Answered,
  Button,
  Dialog,
  Empty,
  Facts,
  Field,
  FilterSelect,
  Filters,
  Page,
  personName,
  Time,
} from './parts.tsx';
import { filterBy, given, pathTo } from './route.ts';
import { type PageColumn, Table } from './table.tsx';
import { T } from './texts.ts';

/** The page asks for new deliveries at this interval, so that an administrator sees the effect of a click at once. */
const ASK_EVERY_MS = 2_000;

export function Deliveries() {
  // A search for an event may read many deliveries.
  const [isLive, setLive] = useState(given('event') === '');
  const [shown, show] = useState<string | null>(null);
  const params = Object.fromEntries(
    ['group', 'member', 'status', 'client', 'event', 'from', 'span'].map((name) => [
      name,
      given(name) || undefined,
    ]),
  );
  const loadable = useAnswer<DeliveriesAnswer>('deliveries', params, false);
  const { reload } = loadable;
  useEffect(() => {
    const timer = isLive ? setInterval(() => document.hidden || void reload(), ASK_EVERY_MS) : undefined;
    return () => clearInterval(timer);
  }, [isLive, reload]);
  const details: PageColumn<DeliveryLine> = {
    title: T.activity.details,
    unseen: true,
    width: '84px',
    narrowWidth: '52px',
    of: (one) => (
      <Button kind="quiet" label={T.deliveries.detailsOf(one.request)} onClick={() => show(one.id)}>
        {T.home.view}
      </Button>
    ),
  };
  const field = (name: 'group' | 'member' | 'client' | 'event') => (
    <Field
      type="search"
      label={T.deliveries[name]}
      value={given(name)}
      onInput={(value) => filterBy({ [name]: value })}
    />
  );
  return (
    <Page
      title={T.nav.deliveries}
      aside={
        <Button onClick={() => setLive(!isLive)}>{isLive ? T.deliveries.stop : T.deliveries.start}</Button>
      }
    >
      <Filters>
        {field('group')}
        {field('member')}
        {field('client')}
        {field('event')}
        <FilterSelect name="status" label={T.deliveries.status} options={T.deliveries.statuses} />
        <FilterSelect name="span" label={T.activity.since} options={T.activity.spans} />
      </Filters>
      <section class="card">
        <Answered loadable={loadable}>
          {({ deliveries, complete, isAny }) => {
            const opened = deliveries.find(({ id }) => id === shown);
            return (
              <>
                <p class="muted" role="status">
                  {T.deliveries.found(deliveries.length)}. {complete ? '' : T.deliveries.cut}
                </p>
                <Table
                  label={T.nav.deliveries}
                  columns={[...COLUMNS, details]}
                  rows={deliveries}
                  keyOf={({ id }) => id}
                  empty={
                    <Empty title={isAny ? T.deliveries.none : T.deliveries.empty}>
                      {isAny ? undefined : T.deliveries.emptyText}
                    </Empty>
                  }
                />
                {opened !== undefined && <Details of={opened} close={() => show(null)} />}
              </>
            );
          }}
        </Answered>
      </section>
    </Page>
  );
}

const codeText = (code: string): string => T.deadLetters.causes[code] ?? code;

function Answer({ of: { outcome, status } }: { readonly of: DeliveryLine }) {
  const isProblem = outcome === 'refused' || outcome === 'failed';
  return (
    <span class={isProblem ? 'bad-text' : 'muted'}>
      {T.deliveries.statuses[outcome]} {status}
    </span>
  );
}

/** Returns the reason of a refusal: the meaning of its code, and the message of a SCIM error. */
const reasonOf = ({ code, detail }: DeliveryLine): string =>
  [...(code === null ? [] : [codeText(code)]), ...(detail === null ? [] : [detail])].join(': ');

const Group = ({ of: { id, name } }: { readonly of: DeliveryLine['groups'][number] }) => (
  <a href={pathTo('groups', id)}>{name ?? id}</a>
);

const COLUMNS: readonly PageColumn<DeliveryLine>[] = [
  {
    title: T.deliveries.what,
    of: (one) => (
      <span class="who">
        <span>
          {one.summary || one.request} {one.groups[0] !== undefined && <Group of={one.groups[0]} />}
        </span>
        <small class="muted">{reasonOf(one) || one.people.map(personName).join(', ') || one.request}</small>
      </span>
    ),
  },
  {
    title: T.deliveries.client,
    of: ({ client }) => T.deliveries.clientOf(client.kind, client.id),
    kind: 'wide',
    width: '170px',
  },
  { title: T.deliveries.answer, of: (one) => <Answer of={one} />, width: '130px', narrowWidth: '92px' },
  { title: T.activity.time, of: ({ at }) => <Time at={at} />, kind: 'wide', width: '100px' },
];

const isEmpty = (shown: ComponentChildren): boolean => Array.isArray(shown) && shown.length === 0;

function Details({ of: one, close }: { readonly of: DeliveryLine; readonly close: () => void }) {
  const more = one.named - one.groups.length - one.people.length;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [T.deliveries.request, one.request],
    [T.deliveries.what, one.summary],
    [T.deliveries.answer, <Answer key="a" of={one} />],
    [T.reason, reasonOf(one)],
    [T.deliveries.client, T.deliveries.clientOf(one.client.kind, one.client.id)],
    [T.deliveries.filter, one.filter && `${one.filter.attribute} ${one.filter.operator} #${one.filter.hash}`],
    [T.deliveries.groups, one.groups.map((each) => <Group key={each.id} of={each} />)],
    [
      T.deliveries.people,
      one.people.map((each, at) => (
        <a key={each.id} href={pathTo('people', each.id)}>
          {`${at > 0 ? ', ' : ''}${personName(each)}`}
        </a>
      )),
    ],
    [T.deliveries.event, one.events.join(', ')],
    [T.deliveries.more, more > 0 ? number(more) : null],
    [T.deliveries.size, T.deliveries.bytes(one.bytes)],
    [T.deliveries.took, duration(one.elapsedMs)],
    [T.activity.time, <Time key="t" at={one.at} />],
  ];
  return (
    <Dialog label={T.activity.details} close={close}>
      <Facts of={facts.filter(([, shown]) => shown !== null && shown !== '' && !isEmpty(shown))} />
      <LedTo of={one} />
    </Dialog>
  );
}

/** The writes, holds and other entries whose changes name an event of the delivery. */
function LedTo({ of: { client, at, elapsedMs, events } }: { readonly of: DeliveryLine }) {
  const delivery = JSON.stringify({ client, at, elapsedMs, events });
  const loadable = useAnswer<Activity>('activity', { delivery, count: MOST_LED_TO });
  return (
    <Answered loadable={loadable}>
      {({ entries }) => (
        <>
          <h2>{T.deliveries.ledTo}</h2>
          <Entries of={entries} none={T.deliveries.ledToNothing} />
        </>
      )}
    </Answered>
  );
}

const MOST_LED_TO = 20;

/** The last delivery, and the share of the refused deliveries of the last day, by reason. */
export function Survey() {
  const loadable = useAnswer<DeliverySurvey>('deliverySurvey');
  return (
    <Answered loadable={loadable}>
      {({ lastAt, received, refused, reasons }) => (
        <>
          <p>
            {T.deliveries.last} <Time at={lastAt} />.{' '}
            {received > 0 &&
              T.deliveries.refused(number(refused), number(received), percent(refused / received))}
          </p>
          <ul class="list">
            {reasons.map(({ code, count }) => (
              <li key={code}>
                <a href={pathTo('deliveries', '', { status: code })}>
                  {codeText(code)} · {number(count)}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </Answered>
  );
}
