import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { DeadLetters as DeadLettersAnswer, ReplayProgress, ShownDeadLetter } from '../answers.ts';
import { duration, number } from './format.ts';
import { lines, live, post, useAnswer } from './net.ts';
import {
  Answered,
  Ask,
  ask,
  Button,
  Empty,
  Page,
  perform,
  Section,
  State,
  showToast,
  Time,
} from './parts.tsx';
import { connection, go, id, pathTo } from './route.ts';
import { T } from './texts.ts';

type Cause = DeadLettersAnswer['causes'][number];
type Summary = DeadLettersAnswer['messages'][number];

export function DeadLetters() {
  const loadable = useAnswer<DeadLettersAnswer>('deadLetters');
  const { value, reload } = loadable;
  const { deadLetters = null } = live.value ?? {};
  // Replayed messages may fail again immediately, with the same count as before.
  useEffect(() => {
    if (value !== undefined && deadLetters !== null && deadLetters !== value.total) void reload();
  }, [live.value]);
  return (
    <Page title={T.deadLetters.title}>
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
              {causes.map((cause) => (
                <OfCause
                  key={cause.code}
                  cause={cause}
                  names={names}
                  messages={messages.filter(({ code }) => code === cause.code)}
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

interface OfCauseProps {
  readonly cause: Cause;
  readonly messages: readonly Summary[];
  readonly names: DeadLettersAnswer['names'];
}

function OfCause({ cause, messages, names }: OfCauseProps) {
  const { code, count, oldestMs } = cause;
  const [shown, setShown] = useState(SHOWN);
  const facts = [T.deadLetters.oldest(duration(oldestMs))];
  if (cause.superseded > 0) facts.push(T.deadLetters.superseded(cause.superseded));
  return (
    <Section
      title={`${code} · ${number(count)}`}
      aside={
        <Button onClick={() => askReplay({ code }, count)} label={`${T.deadLetters.replayCause}: ${code}`}>
          {T.deadLetters.replayCause}
        </Button>
      }
    >
      <p class="muted small">{facts.join(' · ')}</p>
      <ul class="list">
        {messages
          .slice(0, shown)
          .map(({ id, message, group, connection: of, ageMs, failures, superseded }) => (
            <li key={id}>
              <span class="grow">
                <a href={pathTo('dead-letters', id)}>{group === null ? id : groupText(group, of, names)}</a>
                <small class="muted block lines">{message}</small>
              </span>
              {failures > 1 && <span class="bad-text">{T.deadLetters.again(failures)}</span>}
              {superseded && <span class="muted">{T.deadLetters.oneSuperseded}</span>}
              <span class="muted">{duration(ageMs)}</span>
            </li>
          ))}
      </ul>
      {messages.length > shown && (
        <Button onClick={() => setShown(shown * 5)}>{T.deadLetters.more(messages.length - shown)}</Button>
      )}
    </Section>
  );
}

const EACH_SECONDS = 0.05;

function askReplay(
  selection: { readonly code?: string; readonly ids?: readonly string[] },
  count: number,
): void {
  ask({
    title: T.deadLetters.replayTitle(count),
    text: T.deadLetters.replayText(count, duration(Math.max(1_000, count * EACH_SECONDS * 1_000))),
    verb: T.deadLetters.replay,
    field: { label: T.deadLetters.rate, isNumber: true, optional: true },
    run: async ({ value }) => {
      const rate = value.trim() === '' ? undefined : Number(value);
      const stopping = new AbortController();
      const response = await post('replay', { ...selection, rate }, stopping.signal);
      void follow(response, count, stopping);
    },
  });
}

const running = signal<{
  readonly progress: ReplayProgress;
  readonly of: number;
  readonly stop: () => void;
} | null>(null);

/** Follows a replay. The server stops the replay when the page stops reading its progress. */
async function follow(response: Response, of: number, stopping: AbortController): Promise<void> {
  let progress: ReplayProgress = { replayed: 0, failed: 0, remaining: null };
  const stop = () => stopping.abort();
  running.value = { progress, of, stop };
  try {
    for await (const line of lines(response)) {
      if (line === '') continue;
      progress = JSON.parse(line);
      running.value = { progress, of, stop };
    }
    const { replayed, failed, problem } = progress;
    showToast(problem ?? T.deadLetters.ended(replayed, failed), problem !== undefined);
  } catch {
    const isStopped = stopping.signal.aborted;
    showToast(isStopped ? T.deadLetters.stopped : T.live.gone, !isStopped);
  }
  running.value = null;
}

function Running({ done }: { readonly done: () => Promise<void> }) {
  const now = running.value;
  useEffect(() => {
    if (now === null) void done();
  }, [now === null]);
  if (now === null) return null;
  const { progress, of, stop } = now;
  return (
    <div class="notice running" role="status">
      <span>{T.deadLetters.progress(progress.replayed, Math.max(of, progress.replayed))}</span>
      <progress value={progress.replayed} max={Math.max(of, 1)} aria-label={T.deadLetters.replay} />
      <Button onClick={stop}>{T.deadLetters.stop}</Button>
    </div>
  );
}

export function DeadLetter() {
  const loadable = useAnswer<ShownDeadLetter>('deadLetter', { id: id.value }, false);
  return (
    <Page title={T.deadLetters.one}>
      <p>
        <a href={pathTo('dead-letters')}>{T.deadLetters.back}</a>
      </p>
      <Answered loadable={loadable}>{(deadLetter) => <Shown {...deadLetter} />}</Answered>
    </Page>
  );
}

const pretty = (body: string, indent?: number): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, indent);
  } catch {
    return body;
  }
};

const VALIDATE_AFTER_MS = 250;

function Shown(deadLetter: ShownDeadLetter) {
  const { id, queue, code, message, firstFailedAt, failures, superseded, problems, now, body } = deadLetter;
  const of = deadLetter.connection;
  const original = pretty(body, 2);
  const [text, setText] = useState(original);
  const [validated, setValidated] = useState<{ readonly text: string; readonly problems: readonly string[] }>(
    {
      text: original,
      problems,
    },
  );
  const isEdited = text !== original;
  useEffect(() => {
    const timer = setTimeout(async () => {
      if (text === validated.text) return;
      const answer = await post('validate', { id, body: pretty(text) })
        .then((response) => response.json())
        .catch((error: Error) => ({ problems: [error.message] }));
      setValidated({ text, problems: answer.problems });
    }, VALIDATE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const isValidated = validated.text === text;
  const notSent = () => {
    if (!isEdited) return T.deadLetters.unchanged;
    if (!isValidated) return T.deadLetters.validating;
    return validated.problems.length > 0 ? T.deadLetters.now : undefined;
  };
  const tone = validated.problems.length > 0 ? 'bad' : 'good';
  const leave = () => go(pathTo('dead-letters'));
  return (
    <div class="two wide-left">
      <Section
        title={T.deadLetters.body}
        aside={
          queue === 'events' && (
            <Button kind="quiet" onClick={() => setText(pretty(text, 2))}>
              {T.deadLetters.format}
            </Button>
          )
        }
      >
        {queue === 'apply' ? (
          <p class="muted">{T.deadLetters.apply}</p>
        ) : (
          <p class="muted small" id="body-hint">
            {T.deadLetters.bodyHint}
          </p>
        )}
        <textarea
          class="code"
          rows={Math.min(28, text.split('\n').length + 1)}
          spellcheck={false}
          readOnly={queue === 'apply'}
          aria-label={T.deadLetters.body}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="actions end">
          <Ask
            kind="danger"
            title={T.deadLetters.discardTitle}
            text={T.deadLetters.discardText}
            verb={T.deadLetters.discard}
            danger
            needsReason
            run={async ({ reason }) => {
              await perform('discard', { ids: [id], reason }, T.deadLetters.discarded);
              leave();
            }}
          />
          <Button onClick={() => askReplay({ ids: [id] }, 1)}>{T.deadLetters.replay}</Button>
          {queue === 'events' && (
            <Ask
              kind="primary"
              not={notSent()}
              title={T.deadLetters.sendTitle}
              text={T.deadLetters.sendText}
              verb={T.deadLetters.send}
              needsReason
              run={async ({ reason }) => {
                await perform('amend', { id, body: pretty(text), reason }, T.deadLetters.sent);
                leave();
              }}
            />
          )}
        </div>
      </Section>
      <div class="stack">
        <Section title={T.deadLetters.error}>
          <p>
            <strong>{code}</strong>
          </p>
          <p class="lines">{message}</p>
          <p class="muted small">
            <Time at={firstFailedAt} /> {failures > 1 && `· ${T.deadLetters.again(failures)}`}{' '}
            {superseded && `· ${T.deadLetters.oneSuperseded}`}
          </p>
        </Section>
        <section class={`notice ${isValidated ? tone : ''}`} role="status" aria-live="polite">
          {!isValidated && T.deadLetters.validating}
          {isValidated && validated.problems.length === 0 && T.deadLetters.good}
          {isValidated && validated.problems.length > 0 && (
            <>
              <strong>{T.deadLetters.now}</strong>
              {validated.problems.map((problem) => (
                <p key={problem} class="lines">
                  {problem}
                </p>
              ))}
            </>
          )}
        </section>
        {now.map(({ group, state, wanted, users }) => (
          <Section key={group} title={T.deadLetters.groupNow}>
            <p>
              {isHere(of) ? <a href={pathTo('groups', group)}>{group}</a> : `${of}/${group}`}{' '}
              <State of={state} />
            </p>
            <p class="muted small">{T.deadLetters.groupSizes(wanted, users)}</p>
          </Section>
        ))}
      </div>
    </div>
  );
}
