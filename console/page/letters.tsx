import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Letters as LettersAnswer, ReplayProgress, ShownLetter } from '../answers.ts';
import { duration, number } from './format.ts';
import { lines, live, post, useAnswer } from './net.ts';
import { Answered, Ask, ask, Button, Empty, Page, perform, Section, State, sayDone, Time } from './parts.tsx';
import { connection, go, id, pathTo } from './route.ts';
import { T } from './texts.ts';

type Cause = LettersAnswer['causes'][number];
type Summary = LettersAnswer['messages'][number];

export function Letters() {
  const asked = useAnswer<LettersAnswer>('letters');
  const { value, reload } = asked;
  const { letters = null } = live.value ?? {};
  // What was replayed may be back at once, and be as many as before.
  useEffect(() => {
    if (value !== undefined && letters !== null && letters !== value.total) void reload();
  }, [live.value]);
  return (
    <Page title={T.letters.title}>
      <Running done={reload} />
      <Answered asked={asked}>
        {({ causes, messages, names, total, inFlightElsewhere, complete }) =>
          total === 0 ? (
            <section class="card">
              <Empty title={T.letters.empty}>{T.letters.emptyText}</Empty>
            </section>
          ) : (
            <>
              <p class="muted" role="status">
                {T.letters.total(total)}. {inFlightElsewhere > 0 && T.letters.elsewhere(inFlightElsewhere)}{' '}
                {!complete && T.letters.incomplete}
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

/** Letters are of all connections; names and links are of the one whose pages these are. */
const isHere = (of: string | null) => of === connection.value;

interface OfCauseProps {
  readonly cause: Cause;
  readonly messages: readonly Summary[];
  readonly names: LettersAnswer['names'];
}

function OfCause({ cause, messages, names }: OfCauseProps) {
  const { code, count, oldestMs } = cause;
  const [shown, setShown] = useState(SHOWN);
  const facts = [
    T.letters.oldest(duration(oldestMs)),
    ...(cause.superseded > 0 ? [T.letters.superseded(cause.superseded)] : []),
  ];
  return (
    <Section
      title={`${code} · ${number(count)}`}
      aside={
        <Button onClick={() => askReplay({ code }, count)} label={`${T.letters.replayCause}: ${code}`}>
          {T.letters.replayCause}
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
                <a href={pathTo('letters', id)}>
                  {group === null
                    ? id
                    : isHere(of)
                      ? Object.hasOwn(names, group)
                        ? names[group]
                        : group
                      : `${of ?? '?'}/${group}`}
                </a>
                <small class="muted block lines">{message}</small>
              </span>
              {failures > 1 && <span class="bad-text">{T.letters.again(failures)}</span>}
              {superseded && <span class="muted">{T.letters.moot}</span>}
              <span class="muted">{duration(ageMs)}</span>
            </li>
          ))}
      </ul>
      {messages.length > shown && (
        <Button onClick={() => setShown(shown * 5)}>{T.letters.more(messages.length - shown)}</Button>
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
    title: T.letters.replayTitle(count),
    text: T.letters.replayText(count, duration(Math.max(1_000, count * EACH_SECONDS * 1_000))),
    verb: T.letters.replay,
    field: { label: T.letters.rate, isNumber: true, optional: true },
    run: async ({ value }) => {
      const rate = value.trim() === '' ? {} : { rate: Number(value) };
      const stopping = new AbortController();
      const response = await post('replay', { ...selection, ...rate }, stopping.signal);
      void follow(response, count, stopping);
    },
  });
}

const running = signal<{
  readonly progress: ReplayProgress;
  readonly of: number;
  readonly stop: () => void;
} | null>(null);

/** A replay goes on as long as somebody listens: whoever stops listening stops it. */
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
    sayDone(problem ?? T.letters.ended(replayed, failed), problem !== undefined);
  } catch {
    const isOurs = stopping.signal.aborted;
    sayDone(isOurs ? T.letters.stopped : T.live.gone, !isOurs);
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
      <span>{T.letters.progress(progress.replayed, Math.max(of, progress.replayed))}</span>
      <progress value={progress.replayed} max={Math.max(of, 1)} aria-label={T.letters.replay} />
      <Button onClick={stop}>{T.letters.stop}</Button>
    </div>
  );
}

export function Letter() {
  const asked = useAnswer<ShownLetter>('letter', { id: id.value }, false);
  return (
    <Page title={T.letters.one}>
      <p>
        <a href={pathTo('letters')}>{T.letters.back}</a>
      </p>
      <Answered asked={asked}>{(letter) => <Shown {...letter} />}</Answered>
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

const JUDGE_AFTER_MS = 250;

function Shown(letter: ShownLetter) {
  const { id, queue, code, message, firstFailedAt, failures, superseded, problems, now, body } = letter;
  const of = letter.connection;
  const original = pretty(body, 2);
  const [text, setText] = useState(original);
  const [judged, setJudged] = useState<{ readonly text: string; readonly problems: readonly string[] }>({
    text: original,
    problems,
  });
  const isEdited = text !== original;
  useEffect(() => {
    const timer = setTimeout(async () => {
      if (text === judged.text) return;
      const answer = await post('judge', { id, body: pretty(text) })
        .then((response) => response.json())
        .catch((error: Error) => ({ problems: [error.message] }));
      setJudged({ text, problems: answer.problems });
    }, JUDGE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const isJudged = judged.text === text;
  const notSent = !isEdited
    ? T.letters.unchanged
    : !isJudged
      ? T.letters.judging
      : judged.problems.length > 0
        ? T.letters.now
        : undefined;
  const leave = () => go(pathTo('letters'));
  return (
    <div class="two wide-left">
      <Section
        title={T.letters.body}
        aside={
          queue === 'events' && (
            <Button kind="quiet" onClick={() => setText(pretty(text, 2))}>
              {T.letters.format}
            </Button>
          )
        }
      >
        {queue === 'apply' ? (
          <p class="muted">{T.letters.apply}</p>
        ) : (
          <p class="muted small" id="body-hint">
            {T.letters.bodyHint}
          </p>
        )}
        <textarea
          class="code"
          rows={Math.min(28, text.split('\n').length + 1)}
          spellcheck={false}
          readOnly={queue === 'apply'}
          aria-label={T.letters.body}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <div class="actions end">
          <Ask
            kind="danger"
            title={T.letters.discardTitle}
            text={T.letters.discardText}
            verb={T.letters.discard}
            danger
            needsReason
            run={async ({ reason }) => {
              await perform('discard', { ids: [id], reason }, T.letters.discarded);
              leave();
            }}
          />
          <Button onClick={() => askReplay({ ids: [id] }, 1)}>{T.letters.replay}</Button>
          {queue === 'events' && (
            <Ask
              kind="primary"
              not={notSent}
              title={T.letters.sendTitle}
              text={T.letters.sendText}
              verb={T.letters.send}
              needsReason
              run={async ({ reason }) => {
                await perform('amend', { id, body: pretty(text), reason }, T.letters.sent);
                leave();
              }}
            />
          )}
        </div>
      </Section>
      <div class="stack">
        <Section title={T.letters.error}>
          <p>
            <strong>{code}</strong>
          </p>
          <p class="lines">{message}</p>
          <p class="muted small">
            <Time at={firstFailedAt} /> {failures > 1 && `· ${T.letters.again(failures)}`}{' '}
            {superseded && `· ${T.letters.moot}`}
          </p>
        </Section>
        <section
          class={`notice ${!isJudged ? '' : judged.problems.length > 0 ? 'bad' : 'good'}`}
          role="status"
          aria-live="polite"
        >
          {!isJudged ? (
            T.letters.judging
          ) : judged.problems.length === 0 ? (
            T.letters.good
          ) : (
            <>
              <strong>{T.letters.now}</strong>
              {judged.problems.map((problem) => (
                <p key={problem} class="lines">
                  {problem}
                </p>
              ))}
            </>
          )}
        </section>
        {now.map(({ group, state, wanted, users }) => (
          <Section key={group} title={T.letters.groupNow}>
            <p>
              {isHere(of) ? <a href={pathTo('groups', group)}>{group}</a> : `${of}/${group}`}{' '}
              <State of={state} />
            </p>
            <p class="muted small">{T.letters.standing(wanted, users)}</p>
          </Section>
        ))}
      </div>
    </div>
  );
}
