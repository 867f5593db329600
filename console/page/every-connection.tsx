import { useEffect } from 'preact/hooks';
import type { EveryConnection as Answer } from '../answers.ts';
import { Needs, Sentence } from './home.tsx';
import { messageNeeds, type Need, needsOf, splitHidden } from './needs.ts';
import { useAnswer } from './net.ts';
import { Answered, Empty, Failure, Page, Section } from './parts.tsx';
import { go, pagesOf } from './route.ts';
import { T } from './texts.ts';

/** The items that need attention, by connection. If there is one connection only, its page Home is shown. */
export function EveryConnection() {
  const loadable = useAnswer<Answer>('attention');
  const [first, ...others] = loadable.value?.connections ?? [];
  const only = others.length === 0 ? first?.row.name : undefined;
  useEffect(() => {
    if (only !== undefined) go(pagesOf(only)('home'), 'replace');
  }, [only]);
  return <Answered loadable={loadable}>{(answer) => <Shown {...answer} />}</Answered>;
}

type Row = Answer['connections'][number];

const shownNeeds = ({ row, value }: Row): readonly Need[] =>
  value === null ? [] : splitHidden(needsOf(value, pagesOf(row.name)), value.acknowledged).shown;

function Shown({ connections, causes }: Answer) {
  const messages = messageNeeds(causes, pagesOf(connections[0]?.row.name ?? ''));
  const rows = connections.map((of) => ({ of, needs: shownNeeds(of) }));
  const isQuiet = ({ of, needs }: (typeof rows)[number]) => needs.length === 0 && of.problem === null;
  const count = rows.reduce((sum, { needs }) => sum + needs.length, messages.length);
  return (
    <>
      <Page title={T.every.attention(count)} />
      {connections.length === 0 && <Empty title={T.every.none}>{T.every.noneText}</Empty>}
      {messages.length > 0 && (
        <Section title={T.nav['dead-letters']}>
          <Needs of={messages} />
        </Section>
      )}
      {rows
        .filter((one) => !isQuiet(one))
        .map(({ of, needs }) => (
          <Section key={of.row.name} title={of.row.name} aside={<Aside {...of} />}>
            {of.problem !== null && (
              <Failure>
                {T.every.failed}: {of.problem}
              </Failure>
            )}
            <Summary {...of} />
            <Needs of={needs} />
          </Section>
        ))}
      {rows.some(isQuiet) && (
        <Section title={T.every.quiet}>
          <ul class="list">
            {rows.filter(isQuiet).map(({ of }) => (
              <li key={of.row.name}>
                <b>{of.row.name}</b>
                <Summary {...of} />
                <Aside {...of} />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

const Summary = ({ row, value }: Row) => (
  <p class="grow summary">{value !== null && <Sentence {...value} since={row.since} />}</p>
);

const Aside = ({ row, role }: Row) => (
  <span class="actions">
    {role !== null && <small class="muted">{T.every.role(role)}</small>}
    <a class="button" href={pagesOf(row.name)('home')}>
      {T.every.open(row.name)}
    </a>
  </span>
);
