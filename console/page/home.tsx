import type { ComponentChildren } from 'preact';
import type { Home as HomeAnswer } from '../answers.ts';
import { Entries } from './activity.tsx';
import { duration, minute, number, percent } from './format.ts';
import { live, useAnswer } from './net.ts';
import { Answered, Empty, Page, personName, Section, Time } from './parts.tsx';
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
                <a class="button" href={href}>
                  {next}
                  <span class="unseen">: {title}</span>
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
            href={pathTo('groups', '', { state })}
          >
            <b>{number(status.groups[state] ?? 0)}</b>
            <span>{T.states[state]}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

interface Need {
  readonly key: string;
  readonly tone: 'bad' | 'warn';
  readonly title: string;
  readonly text: string;
  readonly href: string;
  readonly next: string;
}

const need = (
  [key, tone]: readonly [string, Need['tone']],
  [title, text]: readonly [string, string],
  [href, next]: readonly [string, string],
): Need => ({ key, tone, title, text, href, next });

/** Returns problems that block all writes, or may soon do so. */
function gateNeeds({ gate, credential, failingCalls }: HomeAnswer['status']): readonly Need[] {
  const tone = gate.state === 'unauthorized' ? 'bad' : 'warn';
  const next = gate.state === 'paused' ? T.home.resumeNext : T.home.gateNext;
  const texts = [T.conn.gates[gate.state] ?? gate.state, gate.reason ?? ''] as const;
  const { failure } = credential;
  const at = pathTo('connection');
  const needs: Need[] = [];
  if (gate.state !== 'open') needs.push(need(['gate', tone], texts, [at, next]));
  for (const { endpoint, failed, total, share, since, reason } of failingCalls) {
    const counts = `${number(failed)} of ${T.many(total, 'call')}`;
    const text = T.home.failingCallsText(counts, minute(since), reason);
    const title = T.home.failingCalls(percent(share), endpoint);
    needs.push(need([`calls ${endpoint}`, 'bad'], [title, text], [at, T.home.gateNext]));
  }
  if (failure !== null && tone !== 'bad') {
    needs.push(need(['credential', 'bad'], [T.home.credential, failure.message], [at, T.home.gateNext]));
  }
  return needs;
}

/** Returns the items that need attention, each with one next step. */
function needsOf({ status, holds, failed, causes, drift, unmatched, unmatchedTotal }: HomeAnswer) {
  const { home } = T;
  const waiting = holds.filter(({ decision }) => decision === 'waiting');
  const names = unmatched.slice(0, 3).map(({ person }) => personName(person));
  const whoElse = home.unmatchedText(names.join(', '), unmatchedTotal - names.length);
  const needs = [
    ...gateNeeds(status),
    ...waiting.map(({ group, name, removes, share, rule }) => {
      const why = home.holdText(percent(share), home.rules[rule]);
      const texts = [home.hold(removes, name ?? group), why] as const;
      return need([`hold ${group}`, 'warn'], texts, [pathTo('hold', group), home.holdNext]);
    }),
    ...failed.map(({ id, name, lastError }) => {
      const texts = [home.failedGroup(name ?? id), lastError ?? ''] as const;
      return need([`failed ${id}`, 'bad'], texts, [pathTo('groups', id), home.failedNext]);
    }),
    ...causes.map(({ code, count, oldestMs }) => {
      const texts = [home.deadLetters(count, code), home.deadLettersText(duration(oldestMs))] as const;
      return need([`dead-lettered messages ${code}`, 'bad'], texts, [
        pathTo('dead-letters'),
        home.deadLettersNext,
      ]);
    }),
    ...drift.map(({ id, group, name, kind, initiator, actor }) => {
      const what = `${T.activity.actions[`drift_${kind}`] ?? kind}, ${actor?.name ?? initiator}`;
      const texts = [home.drift(name ?? group), what] as const;
      return need([id, 'warn'], texts, [pathTo('groups', group), home.driftNext]);
    }),
  ];
  if (unmatchedTotal > 0) {
    const texts = [home.unmatched(unmatchedTotal), whoElse] as const;
    needs.push(need(['unmatched', 'warn'], texts, [pathTo('people'), home.unmatchedNext]));
  }
  return needs;
}

const HEIGHT = 72;

interface GraphProps {
  readonly width: number;
  readonly texts: string;
  readonly children: ComponentChildren;
}

const Graph = ({ width, texts, children }: GraphProps) => (
  <figure>
    <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={texts}>
      {children}
    </svg>
    <figcaption>
      <span>{T.ago('24 h')}</span>
      <b>{texts}</b>
      <span>{T.now}</span>
    </figcaption>
  </figure>
);

function Bars({ counts }: { readonly counts: readonly number[] }) {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return <Empty title={T.home.writesNone} />;
  return (
    <Graph width={counts.length * 10} texts={T.many(total, 'write')}>
      {counts.map((count, at) => {
        const height = count === 0 ? 1 : Math.max(3, (count / most) * HEIGHT);
        const hour = counts.length - 1 - at;
        const box = { x: at * 10 + 1, width: 8, y: HEIGHT - height, height, rx: 1 };
        return (
          <rect key={hour} {...box} class={count === 0 ? 'none' : ''}>
            <title>{T.home.hour(hour, count)}</title>
          </rect>
        );
      })}
    </Graph>
  );
}

function Lag({ of }: { readonly of: HomeAnswer['lag'] }) {
  const most = Math.max(...of);
  if (most === 0) return <Empty title={T.home.lagNone} />;
  const x = (at: number) => ((at / (of.length - 1)) * 240).toFixed(1);
  const line = of
    .map((ms, at) => `${x(at)},${(HEIGHT - 2 - (ms / most) * (HEIGHT - 6)).toFixed(1)}`)
    .join(' ');
  return (
    <Graph width={240} texts={T.home.lagMost(duration(most))}>
      <polygon points={`0,${HEIGHT} ${line} 240,${HEIGHT}`} />
      <polyline points={line} />
    </Graph>
  );
}
