import type { ComponentChildren } from 'preact';
import type { Charts as ChartsAnswer, TrendKind } from '../answers.ts';
import { duration, number } from './format.ts';
import { Section } from './parts.tsx';
import { pathTo } from './route.ts';
import { T } from './texts.ts';

export const HEIGHT = 88;
export const WIDTH = 240;

type Values = readonly (number | null)[];

interface GraphProps {
  readonly text: string;
  readonly top: string;
  /** The times below the chart, the earliest first. */
  readonly axis?: readonly string[];
  /** What is drawn over the chart, in the same place. */
  readonly over?: ComponentChildren;
  readonly children: ComponentChildren;
}

const LAST_DAY = [...[24, 18, 12, 6].map(T.home.hoursAgo), T.home.nowAxis];

/** A chart: the value on the vertical axis, the time on the horizontal axis. */
export const Graph = ({ text, top, axis = LAST_DAY, over, children }: GraphProps) => (
  <figure>
    <div class="plot">
      <span class="y-axis" aria-hidden="true">
        <span>{top}</span>
        <span>0</span>
      </span>
      <div class="drawn">
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={text}>
          {[0.5, HEIGHT / 2, HEIGHT - 0.5].map((y) => (
            <line key={y} class="grid" x1={0} x2={WIDTH} y1={y} y2={y} />
          ))}
          {children}
        </svg>
        {over}
      </div>
      <span class="x-axis" aria-hidden="true">
        {axis.map((time) => (
          <span key={time}>{time}</span>
        ))}
      </span>
    </div>
    <figcaption>{text}</figcaption>
  </figure>
);

/** One bar for each value. A null has no bar and a grey ground, so that a gap differs from a zero. */
function Bars({ of, text, show = number }: { of: Values; text: string; show?: (value: number) => string }) {
  const most = Math.max(1, ...of.map((value) => value ?? 0));
  const step = WIDTH / of.length;
  return (
    <Graph text={text} top={show(most)}>
      {of.map((value, at) => {
        const height = barHeight(value, most);
        const hour = Math.floor(((of.length - 1 - at) * 24) / of.length);
        return (
          <rect
            key={at}
            class={value === null ? 'gap' : ''}
            x={at * step + step * 0.1}
            width={step * 0.8}
            y={HEIGHT - height}
            height={height}
          >
            <title>{T.home.hour(hour, value === null ? T.home.noData : show(value))}</title>
          </rect>
        );
      })}
    </Graph>
  );
}

function barHeight(value: number | null, most: number): number {
  if (value === null) return HEIGHT;
  return value === 0 ? 0 : Math.max(3, (value / most) * HEIGHT);
}

const mostIn = (values: Values) => Math.max(0, ...values.map((value) => value ?? 0));

const LISTS: Readonly<
  Record<TrendKind, readonly [page: string, filters?: Readonly<Record<string, string>>]>
> = {
  waiting: ['groups', { state: 'dirty' }],
  held: ['holds'],
  failed: ['groups', { state: 'failed' }],
  pending: ['people'],
};

export function Charts({ writes, lag, trends }: ChartsAnswer) {
  const total = writes.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const slowest = mostIn(lag);
  return (
    <div class="charts">
      <Section title={T.home.writes}>
        <Bars of={writes} text={T.home.writesText(total, mostIn(writes))} />
      </Section>
      <Section title={T.home.lag}>
        <Bars of={lag} text={T.home.lagMost(duration(slowest))} show={duration} />
      </Section>
      {(Object.keys(LISTS) as TrendKind[]).map((kind) => {
        const [page, filters] = LISTS[kind];
        const values = trends[kind];
        return (
          <Section
            key={kind}
            title={T.home.trends[kind]}
            aside={
              <a href={pathTo(page, '', filters)} aria-label={T.home.trendNext(T.home.trends[kind])}>
                {T.home.view}
              </a>
            }
          >
            <Bars of={values} text={T.home.trendText(mostIn(values), values.at(-1) ?? null)} />
          </Section>
        );
      })}
    </div>
  );
}
