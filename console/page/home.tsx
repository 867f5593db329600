import type { ComponentChildren } from 'preact';
import type { Attention, Home as HomeAnswer } from '../answers.ts';
import { Ask, perform, performNow } from './actions.tsx';
import { Charts } from './charts.tsx';
import { Survey } from './deliveries.tsx';
import { Entries } from './entries.tsx';
import { duration, minute, number } from './format.ts';
import { type Need, needsOf, splitHidden } from './needs.ts';
import { live, useAnswer } from './net.ts';
import { Answered, Button, Empty, Page, Reason, Section, Time } from './parts.tsx';
import { connection, pathTo } from './route.ts';
import { T } from './texts.ts';

export function Home() {
  const loadable = useAnswer<HomeAnswer>('home');
  return <Answered loadable={loadable}>{(home) => <Shown {...home} reload={loadable.reload} />}</Answered>;
}

function Shown(home: HomeAnswer & { readonly reload: () => Promise<void> }) {
  const { shown, hidden } = splitHidden(needsOf(home), home.acknowledged);
  return (
    <>
      <Page title={<Sentence {...home} since={sinceOf(connection.value)} />} />
      <Outage of={home.status} />
      <Tiles {...home} />
      <Section title={T.home.attention}>
        {shown.length === 0 ? (
          <Empty title={T.home.nothing}>{T.home.nothingText}</Empty>
        ) : (
          <Needs of={shown} action={(need) => need.version !== null && <Hide need={need} />} />
        )}
        {hidden.length > 0 && (
          <details>
            <summary>{T.home.hidden(hidden.length)}</summary>
            <Needs
              of={hidden}
              action={({ key, title }) => (
                <Button
                  use="acknowledge"
                  label={`${T.home.showAgain}: ${title}`}
                  onClick={() =>
                    performNow('acknowledge', { item: key, version: null, days: 0 }, T.home.shownAgain).then(
                      home.reload,
                    )
                  }
                >
                  {T.home.showAgain}
                </Button>
              )}
            />
          </details>
        )}
      </Section>
      <Charts {...home.charts} />
      <Section title={T.nav.deliveries} aside={<a href={pathTo('deliveries')}>{T.deliveries.all}</a>}>
        <Survey />
      </Section>
      <Section title={T.home.latest} aside={<a href={pathTo('activity')}>{T.home.allActivity}</a>}>
        <Entries of={home.activity} none={T.activity.none} />
      </Section>
    </>
  );
}

const sinceOf = (of: string) => live.value?.connections?.find(({ name }) => name === of)?.since ?? null;

interface NeedsProps {
  readonly of: readonly Need[];
  readonly action?: (need: Need) => ComponentChildren;
}

export const Needs = ({ of, action }: NeedsProps) => (
  <ul class="needs">
    {of.map((need) => (
      <li key={need.key} class={need.tone}>
        <div>
          <strong>{need.title}</strong>
          <p class="muted">
            <Reason>{need.text}</Reason>
          </p>
        </div>
        {action?.(need)}
        <a class="button" href={need.href} aria-label={`${need.next}: ${need.title}`}>
          {need.next}
        </a>
      </li>
    ))}
  </ul>
);

/** Hides an item for some days, or until it changes but at most `mostDays`. */
const Hide = ({ need: { key, title, version } }: { readonly need: Need }) => (
  <Ask
    kind="quiet"
    use="acknowledge"
    label={`${T.home.hide}: ${title}`}
    title={T.home.hideTitle}
    text={T.home.hideText(title)}
    verb={T.home.hide}
    options={T.home.hideFor}
    run={({ value }) => {
      const days = value === '' ? T.home.mostDays : Number(value);
      return perform(
        'acknowledge',
        { item: key, version: value === '' ? version : null, days },
        T.home.isHidden,
      );
    }}
  />
);

/** The state of the connection in one sentence, which names only the worst problem. */
export function Sentence({ status, observing, since }: Attention & { readonly since: string | null }) {
  const { groups, gate, failingCalls } = status;
  const { dirty = 0, deleted = 0, excluded = 0, unknown = 0, in_sync: inSync = 0 } = groups;
  const every = Object.values(groups).reduce((sum, count) => sum + count, 0);
  const all = every - deleted - excluded - unknown;
  const stopped = {
    open: undefined,
    backoff: T.home.backoff,
    unauthorized: T.home.unauthorized,
    paused: T.home.paused,
    invalid_settings: T.home.invalidSettings,
  }[gate.state];
  if (stopped !== undefined) {
    return (
      <>
        {stopped}{' '}
        {since !== null && (
          <small class="muted">
            {T.home.since} <Time at={since} />
          </small>
        )}
      </>
    );
  }
  if (observing) return <>{T.home.observing}</>;
  if (failingCalls.length > 0) return <>{T.home.callsFail}</>;
  if (all === 0) return <>{T.home.empty}</>;
  if (inSync === all) return <>{T.home.all(all)}</>;
  return (
    <>
      {T.home.some(inSync, all)}
      {dirty > 0 && ` ${T.home.syncing(dirty)}`}
    </>
  );
}

/** While the platform is down: what waits, and when groupsync calls the platform again. */
function Outage({
  of: { gate, failingCalls, backlog, oldestUnappliedMs },
}: {
  readonly of: Attention['status'];
}) {
  if (gate.state !== 'backoff' && failingCalls.length === 0) return null;
  const oldest = oldestUnappliedMs === null ? null : duration(oldestUnappliedMs);
  return (
    <p class="notice warn" role="status">
      <strong>{T.home.waits(backlog, oldest)}</strong>{' '}
      {gate.until !== null && (
        <>
          {T.home.triesAgain} <Time at={gate.until} /> ({minute(gate.until)}).{' '}
        </>
      )}
      <a href={pathTo('groups', '', { state: 'dirty', sort: 'waiting' })}>{T.home.waitsNext}</a>
    </p>
  );
}

const TILES = [
  'in_sync',
  'dirty',
  'held',
  'failed',
  'paused',
  'unnamed',
  'name_clash',
  'unrestated',
  'unknown',
  'deleted',
  'excluded',
] as const;
const ALWAYS = new Set<string>(['in_sync', 'dirty', 'held', 'failed']);

function Tiles({ status }: HomeAnswer) {
  return (
    <ul class="tiles">
      {TILES.filter((state) => ALWAYS.has(state) || status.groups[state] !== undefined).map((state) => (
        <li key={state}>
          <a
            class={`tile is-${state} ${status.groups[state] === undefined ? 'zero' : ''}`}
            href={state === 'held' ? pathTo('holds') : pathTo('groups', '', { state })}
          >
            <b>{number(status.groups[state] ?? 0)}</b>
            <span>{T.states[state]}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
