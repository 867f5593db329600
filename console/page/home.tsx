import type { Home as HomeAnswer } from '../answers.ts';
import { Bars, Lag } from './charts.tsx';
import { Entries } from './entries.tsx';
import { number } from './format.ts';
import { needsOf } from './needs.ts';
import { live, useAnswer } from './net.ts';
import { Answered, Empty, Page, Section, Time } from './parts.tsx';
import { connection, pathTo } from './route.ts';
import { T } from './texts.ts';

export function Home() {
  const loadable = useAnswer<HomeAnswer>('home');
  return <Answered loadable={loadable}>{(home) => <Shown {...home} />}</Answered>;
}

function Shown(home: HomeAnswer) {
  const needs = needsOf(home);
  return (
    <>
      <Page title={<Sentence {...home} />} />
      <Tiles {...home} />
      <Section title={T.home.attention}>
        {needs.length === 0 ? (
          <Empty title={T.home.nothing}>{T.home.nothingText}</Empty>
        ) : (
          <ul class="needs">
            {needs.map(({ key, tone, title, text, href, next }) => (
              <li key={key} class={tone}>
                <div>
                  <strong>{title}</strong>
                  <p class="muted">{text}</p>
                </div>
                <a class="button" href={href} aria-label={`${next}: ${title}`}>
                  {next}
                </a>
              </li>
            ))}
          </ul>
        )}
      </Section>
      <div class="two">
        <Section title={T.home.writes}>
          <Bars counts={home.writes} />
        </Section>
        <Section title={T.home.lag}>
          <Lag of={home.lag} />
        </Section>
      </div>
      <Section title={T.home.latest} aside={<a href={pathTo('activity')}>{T.home.allActivity}</a>}>
        <Entries of={home.activity} none={T.activity.none} />
      </Section>
    </>
  );
}

/** The state of the connection in one sentence; the worst problem comes first. */
function Sentence({ status, observing }: HomeAnswer) {
  const { groups, gate, backlog, failingCalls } = status;
  const { deleted = 0, excluded = 0, unknown = 0, in_sync: inSync = 0 } = groups;
  const every = Object.values(groups).reduce((sum, count) => sum + count, 0);
  const all = every - deleted - excluded - unknown;
  const since = live.value?.connections?.find(({ name }) => name === connection.value)?.since ?? null;
  const stopped = {
    open: undefined,
    backoff: T.home.backoff,
    unauthorized: T.home.unauthorized,
    paused: T.home.paused,
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
      {backlog > 0 && ` ${T.home.syncing(backlog)}`}
    </>
  );
}

const TILES = [
  'in_sync',
  'dirty',
  'held',
  'failed',
  'paused',
  'unnamed',
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
