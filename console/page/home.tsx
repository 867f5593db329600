import type { ComponentChildren } from 'preact';
import type { Home as HomeAnswer } from '../answers.ts';
import { EntryLine } from './activity.tsx';
import { duration, number, percent } from './format.ts';
import { live, useAnswer } from './net.ts';
import { Answered, Empty, Page, Section, sayPerson, Time } from './parts.tsx';
import { connection, pathTo } from './route.ts';
import { T } from './texts.ts';

export function Home() {
  const asked = useAnswer<HomeAnswer>('home');
  return <Answered asked={asked}>{(home) => <Shown {...home} />}</Answered>;
}

function Shown(home: HomeAnswer) {
  const needs = needsOf(home);
  return (
    <>
      <Page title={<Sentence {...home} />} />
      <Tiles {...home} />
      <Section title={T.home.needsYou}>
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
        {home.activity.length === 0 ? (
          <Empty title={T.activity.none} />
        ) : (
          <ol class="entries">
            {home.activity.map((entry) => (
              <EntryLine key={entry.at + entry.action + entry.group} entry={entry} />
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}

/** What is true of the whole, in one sentence; the worst comes first. */
function Sentence({ status, observing }: HomeAnswer) {
  const { groups, gate, backlog } = status;
  const { deleted = 0, excluded = 0, unknown = 0, in_sync: inStep = 0 } = groups;
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
  if (all === 0) return <>{T.home.empty}</>;
  if (inStep === all) return <>{T.home.all(all)}</>;
  return (
    <>
      {T.home.some(inStep, all)}
      {backlog > 0 && ` ${T.home.underWay(backlog)}`}
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
  readonly text: ComponentChildren;
  readonly href: string;
  readonly next: string;
}

/** What keeps all writing back, or soon may. */
function gateNeeds({ gate, credential }: HomeAnswer['status']): readonly Need[] {
  const needs: Need[] = [];
  const conn = { href: pathTo('connection'), next: T.home.gateNext };
  if (gate.state !== 'open') {
    const tone = gate.state === 'unauthorized' ? 'bad' : 'warn';
    const next = gate.state === 'paused' ? T.home.resumeNext : T.home.gateNext;
    needs.push({
      ...conn,
      key: 'gate',
      tone,
      title: T.conn.gates[gate.state] ?? gate.state,
      text: gate.reason ?? '',
      next,
    });
  }
  if (credential.failure !== null && gate.state !== 'unauthorized') {
    needs.push({
      ...conn,
      key: 'credential',
      tone: 'bad',
      title: T.home.credential,
      text: credential.failure.message,
    });
  }
  return needs;
}

/** Each with its one next step. */
function needsOf(home: HomeAnswer): readonly Need[] {
  const { status, holds, failed, causes, drift, unmatched, unmatchedTotal } = home;
  const needs: Need[] = [...gateNeeds(status)];
  for (const { group, name, removes, share, rule, decision } of holds) {
    if (decision !== 'waiting') continue;
    needs.push({
      key: `hold ${group}`,
      tone: 'warn',
      title: T.home.hold(removes, name ?? group),
      text: T.home.holdText(percent(share), T.home.rules[rule] ?? rule),
      href: pathTo('hold', group),
      next: T.home.holdNext,
    });
  }
  for (const { id, name, lastError } of failed) {
    const title = T.home.failedGroup(name ?? id);
    needs.push({
      key: `failed ${id}`,
      tone: 'bad',
      title,
      text: lastError ?? '',
      href: pathTo('groups', id),
      next: T.home.failedNext,
    });
  }
  for (const { code, count, oldestMs } of causes) {
    needs.push({
      key: `letters ${code}`,
      tone: 'bad',
      title: T.home.letters(count, code),
      text: T.home.lettersText(duration(oldestMs)),
      href: pathTo('letters'),
      next: T.home.lettersNext,
    });
  }
  for (const { id, group, name, kind, initiator, actor } of drift) {
    const who = actor?.name ?? initiator;
    const text = `${T.activity.actions[`drift_${kind}`] ?? kind}, ${who}`;
    needs.push({
      key: id,
      tone: 'warn',
      title: T.home.drift(name ?? group),
      text,
      href: pathTo('groups', group),
      next: T.home.driftNext,
    });
  }
  if (unmatchedTotal > 0) {
    const names = unmatched.slice(0, 3).map(({ person }) => sayPerson(person));
    needs.push({
      key: 'unmatched',
      tone: 'warn',
      title: T.home.unmatched(unmatchedTotal),
      text: T.home.unmatchedText(names.join(', '), unmatchedTotal - names.length),
      href: pathTo('people'),
      next: T.home.unmatchedNext,
    });
  }
  return needs;
}

const HEIGHT = 72;

function Bars({ counts }: { readonly counts: readonly number[] }) {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return <Empty title={T.home.writesNone} />;
  return (
    <figure>
      <svg
        viewBox={`0 0 ${counts.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={T.many(total, 'write')}
      >
        {counts.map((count, at) => {
          const height = count === 0 ? 1 : Math.max(3, (count / most) * HEIGHT);
          const hour = counts.length - 1 - at;
          return (
            <rect
              key={hour}
              x={at * 10 + 1}
              width="8"
              y={HEIGHT - height}
              height={height}
              rx="1"
              class={count === 0 ? 'none' : ''}
            >
              <title>{T.home.hour(hour, count)}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption>
        <span>{T.ago('24 h')}</span>
        <b>{T.many(total, 'write')}</b>
        <span>{T.now}</span>
      </figcaption>
    </figure>
  );
}

function Lag({ of }: { readonly of: HomeAnswer['lag'] }) {
  const most = Math.max(...of);
  if (most === 0) return <Empty title={T.home.lagNone} />;
  const x = (at: number) => ((at / (of.length - 1)) * 240).toFixed(1);
  const line = of
    .map((ms, at) => `${x(at)},${(HEIGHT - 2 - (ms / most) * (HEIGHT - 6)).toFixed(1)}`)
    .join(' ');
  const longest = T.home.lagMost(duration(most));
  return (
    <figure>
      <svg viewBox={`0 0 240 ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={longest}>
        <polygon points={`0,${HEIGHT} ${line} 240,${HEIGHT}`} />
        <polyline points={line} />
      </svg>
      <figcaption>
        <span>{T.ago('24 h')}</span>
        <b>{longest}</b>
        <span>{T.now}</span>
      </figcaption>
    </figure>
  );
}
