import { useMemo } from 'preact/hooks';
import { momentOf } from '../../shared/contract/moment.ts';
import type { PastMember, PastMembers, Timeline } from '../answers.ts';
import { Graph, HEIGHT, WIDTH } from './charts.tsx';
import { day, exact, range } from './format.ts';
import { nowMs, useAnswer } from './net.ts';
import { Answered, Empty, Field, FilterSelect, Filters, Member, Section } from './parts.tsx';
import { filterBy, given } from './route.ts';
import { type PageColumn, type Sorts, sortedBy, Table } from './table.tsx';
import { T } from './texts.ts';

type Change = Timeline['changes'][number];

/** The size and the changes of a group over time, and its members at a time that the operator chooses or types. */
export function Past({ group }: { readonly group: string }) {
  const loadable = useAnswer<Timeline>('timeline', { group, span: given('span') });
  const at = given('at');
  // A relative time is read once.
  const time = useMemo(() => timeIn(at), [at]);
  return (
    <>
      <Section title={T.past.title}>
        <Answered loadable={loadable}>{(timeline) => <Drawing of={timeline} chosen={at} />}</Answered>
        <Filters>
          <Field
            label={T.past.time}
            value={at}
            onInput={(typed) => filterBy({ at: typed })}
            hint={T.past.hint}
          />
          <FilterSelect name="span" label={T.past.span} options={T.past.spans} />
        </Filters>
        {at !== '' && time === undefined && <p role="status">{T.past.noTime(at)}</p>}
      </Section>
      {time !== undefined && <MembersAt group={group} at={time} />}
    </>
  );
}

function timeIn(text: string): string | undefined {
  const ms = momentOf(text.trim(), Date.now());
  return ms === undefined || ms > Date.now() ? undefined : new Date(ms).toISOString();
}

function Drawing({ of, chosen }: { readonly of: Timeline; readonly chosen: string }) {
  const { since, begins, before, changes } = of;
  if (since === null) return <Empty title={T.past.unknown} />;
  const fromMs = Date.parse(since);
  const lengthMs = Math.max(1, nowMs.value - fromMs);
  const most = Math.max(1, before, ...changes.map(({ size }) => size ?? 0));
  const left = (at: string) => Math.min(1, Math.max(0, (Date.parse(at) - fromMs) / lengthMs));
  const top = (size: number) => 1 - size / most;
  const last = changes.at(-1);
  const summary = T.past.summary(changes.length, last === undefined ? before : last.size);
  const timeAt = (share: number) => day(new Date(fromMs + share * lengthMs).toISOString());
  return (
    <>
      <Graph
        text={summary + T.past.begins[begins](day(since))}
        top={String(most)}
        axis={[timeAt(0), timeAt(0.5), T.home.nowAxis]}
        over={
          <fieldset class="points">
            <legend class="unseen">{T.past.points}</legend>
            {changes.map((change, index) => (
              <Point
                key={index}
                of={change}
                isChosen={change.at === chosen}
                style={{ left: `${left(change.at) * 100}%`, top: `${top(change.size ?? 0) * 100}%` }}
              />
            ))}
          </fieldset>
        }
      >
        <path class="size" d={lineOf(of, left, top)} />
      </Graph>
      <p class="legend muted">
        {[...new Set(changes.map(sortOf))].map((sort) => (
          <span key={sort}>
            <b class={`point ${sort}`}>{T.past.sorts[sort][0]}</b> {T.past.sorts[sort][1]}
          </span>
        ))}
      </p>
    </>
  );
}

/** Returns the path of the size. It has a gap while the size is not known. */
function lineOf({ before, changes }: Timeline, left: (at: string) => number, top: (size: number) => number) {
  const y = (size: number) => 1 + top(size) * (HEIGHT - 2);
  const parts = [`M 0 ${y(before)}`];
  let isKnown = true;
  for (const { at, size } of changes) {
    const x = left(at) * WIDTH;
    if (isKnown) parts.push(`H ${x}`);
    if (size !== null) parts.push(isKnown ? `V ${y(size)}` : `M ${x} ${y(size)}`);
    isKnown = size !== null;
  }
  return [...parts, isKnown ? `H ${WIDTH}` : ''].join(' ');
}

/** Returns the sort of a change; for a write, who changed. */
function sortOf({ sort, added, removed }: Change): keyof typeof T.past.sorts {
  if (sort !== 'write') return sort;
  if (added > 0) return removed > 0 ? 'both' : 'joined';
  return 'left';
}

/** One of the radio buttons of the changes, so that arrow keys move along the line. */
function Point(props: { of: Change; isChosen: boolean; style: Readonly<Record<string, string>> }) {
  const { of, isChosen, style } = props;
  const sort = sortOf(of);
  const [sign, what] = T.past.sorts[sort];
  const text = T.past.point(day(of.at), what, of);
  return (
    <label class={`point ${sort}`} style={style} title={text}>
      <input
        type="radio"
        class="unseen"
        name="change"
        aria-label={text}
        checked={isChosen}
        onChange={() => filterBy({ at: of.at })}
      />
      <span aria-hidden="true">{sign}</span>
    </label>
  );
}

function MembersAt({ group, at }: { readonly group: string; readonly at: string }) {
  const loadable = useAnswer<PastMembers>('past', { group, at }, false);
  return (
    <Section title={T.past.membersAt(exact(at))}>
      <Answered loadable={loadable}>
        {({ known, knownSince, members }) =>
          known ? (
            <>
              <p class="muted" role="status">
                {T.past.found(members.length, members.filter((one) => one.changedBetween !== null).length)}
              </p>
              <Table
                label={T.group.members}
                columns={COLUMNS}
                rows={sortedBy(members, SORTS, 'state')}
                keyOf={({ user }) => user}
                rowHeight={56}
                empty={<Empty title={T.group.noMembers} />}
              />
            </>
          ) : (
            <Empty title={T.past.notKnown}>
              {knownSince !== null && T.past.knownSince(exact(knownSince))}
            </Empty>
          )
        }
      </Answered>
    </Section>
  );
}

/** The address after a name. */
const ADDRESS = / <[^<]*>$/;

const COLUMNS: readonly PageColumn<PastMember>[] = [
  {
    title: T.past.columns.name,
    of: ({ member, name, user }) => (
      <Member
        of={{ id: member ?? '', name: name?.replace(ADDRESS, '') ?? null, email: null, user }}
        unknown={T.group.unknownMember}
      />
    ),
  },
  {
    title: T.past.columns.state,
    of: ({ states: [state = 'out'], changedBetween }) => (
      <span class="who">
        <span class={state === 'in' ? '' : 'verdict pending'}>{T.past.states[state]}</span>
        {changedBetween !== null && <small class="muted lines">{range(changedBetween)}</small>}
      </span>
    ),
  },
];

/** People who are uncertain come first. */
const SORTS: Sorts<PastMember> = {
  state: ({ changedBetween, name, user }) => `${Number(changedBetween === null)} ${name ?? user}`,
};
