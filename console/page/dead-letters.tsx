import { useEffect, useState } from 'preact/hooks';
import type { DeadLetters as DeadLettersAnswer } from '../answers.ts';
import { Ask, perform } from './actions.tsx';
import { CountFilter } from './count-filter.tsx';
import { duration, number } from './format.ts';
import { live, useAnswer } from './net.ts';
import { Answered, Button, Empty, Page } from './parts.tsx';
import { askReplay, Running } from './replay.tsx';
import { connection, given, pathTo } from './route.ts';
import { T } from './texts.ts';

type Cause = DeadLettersAnswer['causes'][number];
type Summary = DeadLettersAnswer['messages'][number];

export function DeadLetters() {
  const loadable = useAnswer<DeadLettersAnswer>('deadLetters');
  const { value, reload } = loadable;
  const { deadLetters = null } = live.value ?? {};
  const chosen = given('code');
  // Compares at each live update, because a list that was read during a replay may be outdated.
  useEffect(() => {
    if (value !== undefined && deadLetters !== null && deadLetters !== value.total) void reload();
  }, [live.value]);
  return (
    <Page title={T.nav['dead-letters']}>
      <Running done={reload} />
      <Answered loadable={loadable}>
        {({ causes, messages, names, total, inFlightElsewhere, complete }) =>
          total === 0 ? (
            <section class="card">
              <Empty title={T.deadLetters.empty}>{T.deadLetters.emptyText}</Empty>
            </section>
          ) : (
            <>
              <p class="muted" role="status">
                {T.deadLetters.total(total)}.{' '}
                {inFlightElsewhere > 0 && T.deadLetters.elsewhere(inFlightElsewhere)}{' '}
                {!complete && T.deadLetters.incomplete}
              </p>
              {causes.length > 1 && (
                <CountFilter
                  name="code"
                  label={T.activity.cause}
                  every={T.deadLetters.every}
                  total={causes.reduce((sum, { count }) => sum + count, 0)}
                  counts={causes.map(({ code, count }) => [code, count])}
                  show={causeText}
                />
              )}
              {causes
                .filter(({ code }) => chosen === '' || code === chosen)
                .map((cause) => (
                  <OfCause
                    key={cause.code}
                    cause={cause}
                    names={names}
                    messages={messages.filter(({ code }) => code === cause.code)}
                    reload={reload}
                  />
                ))}
            </>
          )
        }
      </Answered>
    </Page>
  );
}

const SHOWN = 20;

/** The list contains messages of all connections, but only this connection has names and links. */
const isHere = (of: string | null) => of === connection.value;

function groupText(group: string, of: string | null, names: DeadLettersAnswer['names']): string {
  if (!isHere(of)) return `${of ?? '?'}/${group}`;
  return (Object.hasOwn(names, group) ? names[group] : undefined) ?? group;
}

const causeText = (code: string) => T.deadLetters.causes[code] ?? code;

interface OfCauseProps {
  readonly cause: Cause;
  readonly messages: readonly Summary[];
  readonly names: DeadLettersAnswer['names'];
  readonly reload: () => Promise<void>;
}

function OfCause({ cause, messages, names, reload }: OfCauseProps) {
  const { code, count, oldestMs, refused, superseded } = cause;
  const [shown, setShown] = useState(SHOWN);
  const facts = [T.deadLetters.oldest(duration(oldestMs))];
  if (superseded > 0) facts.push(T.deadLetters.superseded(superseded));
  const failsAgain = refused >= count;
  if (refused > 0 && !failsAgain) facts.push(T.deadLetters.someFail(refused));
  const why = messages.find(({ refusal }) => refusal !== null)?.refusal ?? code;
  return (
    <section class="card">
      <div class="section-head">
        <h2>
          {causeText(code)} <code>{code}</code> · {number(count)}
        </h2>
        <div class="actions">
          <Ask
            title={T.deadLetters.discardAllTitle(count)}
            text={T.deadLetters.discardAllText(causeText(code))}
            use="discard"
            verb={T.deadLetters.discardAll}
            label={`${T.deadLetters.discardAll}: ${code}`}
            danger
            needsReason
            run={async ({ reason }) => {
              await perform('discard', { code, reason }, T.deadLetters.discardedAll(count));
              await reload();
            }}
          />
          {!failsAgain && (
            <Button
              use="replay"
              onClick={() => askReplay({ code }, count)}
              label={`${T.deadLetters.replayCause}: ${code}`}
            >
              {T.deadLetters.replayCause}
            </Button>
          )}
        </div>
      </div>
      <p class="muted small">{facts.join(' · ')}</p>
      {failsAgain && <p class="small">{T.deadLetters.allFail(why)}</p>}
      <ul class="list">
        {messages.slice(0, shown).map((message) => (
          <Message key={message.id} of={message} names={names} />
        ))}
      </ul>
      {messages.length > shown && (
        <Button onClick={() => setShown(shown * 5)}>{T.deadLetters.more(messages.length - shown)}</Button>
      )}
    </section>
  );
}

function Message({ of, names }: { readonly of: Summary; readonly names: DeadLettersAnswer['names'] }) {
  const { id, queue, message, group, ageMs, failures, superseded, refusal, source, type } = of;
  const called = group === null ? id : groupText(group, of.connection, names);
  const origin = [type, source].filter((text) => text !== null).join(' · ');
  return (
    <li>
      <span class="grow">
        <a href={pathTo('dead-letters', id)}>{called}</a>
        <small class="block lines">{message}</small>
        {origin !== '' && <small class="muted block">{origin}</small>}
      </span>
      {failures > 1 && <span class="bad-text">{T.deadLetters.again(failures)}</span>}
      {superseded && <span class="muted">{T.deadLetters.oneSuperseded}</span>}
      <span class="muted">{duration(ageMs)}</span>
      {queue === 'events' && (
        <a class="button" href={pathTo('dead-letters', id)} aria-label={T.deadLetters.fixOf(called)}>
          {T.deadLetters.fix}
        </a>
      )}
      <Button
        use="replay"
        not={refusal === null ? undefined : T.deadLetters.wouldFail(refusal)}
        label={T.deadLetters.retryOf(called)}
        onClick={() => askReplay({ ids: [id] }, 1)}
      >
        {T.tryAgain}
      </Button>
    </li>
  );
}
