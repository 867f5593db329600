import { useEffect, useState } from 'preact/hooks';
import type { ShownDeadLetter } from '../answers.ts';
import { Ask, perform } from './actions.tsx';
import { post, useAnswer } from './net.ts';
import { Answered, Button, Page, Section, State, Time } from './parts.tsx';
import { askReplay } from './replay.tsx';
import { connection, go, id, pathTo } from './route.ts';
import { T } from './texts.ts';

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
      <Section title={T.deadLetters.body}>
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
            use="discard"
            verb={T.deadLetters.discard}
            danger
            needsReason
            run={async ({ reason }) => {
              await perform('discard', { ids: [id], reason }, T.deadLetters.discarded);
              leave();
            }}
          />
          <Button
            use="replay"
            not={problems[0] === undefined ? undefined : T.deadLetters.wouldFail(problems[0])}
            onClick={() => askReplay({ ids: [id] }, 1)}
          >
            {T.tryAgain}
          </Button>
          {queue === 'events' && (
            <Ask
              kind="primary"
              use="amend"
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
        <Section title={T.activity.cause}>
          <p>
            <strong>{T.deadLetters.causes[code] ?? code}</strong> <code>{code}</code>
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
              {of === connection.value ? <a href={pathTo('groups', group)}>{group}</a> : `${of}/${group}`}{' '}
              <State of={state} />
            </p>
            <p class="muted small">{T.deadLetters.groupSizes(wanted, users)}</p>
          </Section>
        ))}
      </div>
    </div>
  );
}
