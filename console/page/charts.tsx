import type { ComponentChildren } from 'preact';
import type { Home } from '../answers.ts';
import { duration, number } from './format.ts';
import { Empty } from './parts.tsx';
import { T } from './texts.ts';

const HEIGHT = 88;

interface GraphProps {
  readonly width: number;
  /** A description of the chart for screen readers. */
  readonly text: string;
  /** The value at the top of the vertical axis. */
  readonly top: string;
  readonly children: ComponentChildren;
}

/** A chart of the last 24 hours: the value on the vertical axis, the time on the horizontal axis. */
const Graph = ({ width, text, top, children }: GraphProps) => (
  <figure>
    <div class="plot">
      <span class="y-axis" aria-hidden="true">
        <span>{top}</span>
        <span>0</span>
      </span>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={text}>
        {[0.5, HEIGHT / 2, HEIGHT - 0.5].map((y) => (
          <line key={y} class="grid" x1={0} x2={width} y1={y} y2={y} />
        ))}
        {children}
      </svg>
      <span class="x-axis" aria-hidden="true">
        {[24, 18, 12, 6].map((hours) => (
          <span key={hours}>{T.home.hoursAgo(hours)}</span>
        ))}
        <span>{T.home.nowAxis}</span>
      </span>
    </div>
    <figcaption>{text}</figcaption>
  </figure>
);

export function Bars({ counts }: { readonly counts: readonly number[] }) {
  const most = Math.max(1, ...counts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return <Empty title={T.home.writesNone} />;
  return (
    <Graph width={counts.length * 10} text={T.home.writesText(total, most)} top={number(most)}>
      {counts.map((count, at) => {
        const height = count === 0 ? 0 : Math.max(3, (count / most) * HEIGHT);
        const hour = counts.length - 1 - at;
        return (
          <rect key={hour} x={at * 10 + 1} width={8} y={HEIGHT - height} height={height} rx={1}>
            <title>{T.home.hour(hour, count)}</title>
          </rect>
        );
      })}
    </Graph>
  );
}

export function Lag({ of }: { readonly of: Home['lag'] }) {
  const most = Math.max(...of);
  if (most === 0) return <Empty title={T.home.lagNone} />;
  const x = (at: number) => ((at / (of.length - 1)) * 240).toFixed(1);
  const line = of.map((ms, at) => `${x(at)},${(HEIGHT - (ms / most) * (HEIGHT - 1)).toFixed(1)}`).join(' ');
  return (
    <Graph width={240} text={T.home.lagMost(duration(most))} top={duration(most)}>
      <polygon points={`0,${HEIGHT} ${line} 240,${HEIGHT}`} />
      <polyline points={line} />
    </Graph>
  );
}
