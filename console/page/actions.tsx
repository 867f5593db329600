import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { post } from './net.ts';
import { Button, type ButtonProps, Failure, Field, Select } from './parts.tsx';
import { T } from './texts.ts';

interface Question {
  readonly title: string;
  readonly text: string;
  readonly verb: string;
  readonly danger?: boolean;
  readonly needsReason?: boolean;
  readonly field?: { readonly label: string; readonly isNumber?: boolean; readonly optional?: boolean };
  /** Texts of values to choose from; the value `''` is chosen first. */
  readonly options?: Readonly<Record<string, string>>;
  readonly run: (given: { readonly reason: string; readonly value: string }) => Promise<unknown>;
}

const asking = signal<Question | null>(null);
export const ask = (question: Question): void => {
  asking.value = question;
};

export function Ask({ kind, not, use, label, ...question }: Question & Omit<ButtonProps, 'onClick'>) {
  return (
    <Button {...{ kind, not, use }} {...(label && { label })} onClick={() => ask(question)}>
      {question.children ?? question.verb}
    </Button>
  );
}

export function AskDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [given, setGiven] = useState({ reason: '', value: '' });
  const [failure, setFailure] = useState('');
  const [isBusy, setBusy] = useState(false);
  const question = asking.value;
  useEffect(() => {
    setGiven({ reason: '', value: '' });
    setFailure('');
    if (question === null) dialog.current?.close();
    else dialog.current?.showModal();
  }, [question]);
  const isReady =
    (question?.needsReason !== true || given.reason.trim() !== '') &&
    (question?.field === undefined || question.field.optional === true || given.value.trim() !== '');
  async function run(event: Event): Promise<void> {
    event.preventDefault();
    if (!isReady || isBusy) return;
    setBusy(true);
    try {
      await question?.run(given);
      asking.value = null;
    } catch (error) {
      setFailure((error as Error).message);
    }
    setBusy(false);
  }
  return (
    <dialog ref={dialog} aria-labelledby="question" onClose={() => (asking.value = null)}>
      {question !== null && (
        <form onSubmit={run}>
          <h2 id="question">{question.title}</h2>
          <p>{question.text}</p>
          {question.field !== undefined && (
            <Field
              label={question.field.label}
              isNumber={question.field.isNumber === true}
              value={given.value}
              onInput={(value) => setGiven({ ...given, value })}
            />
          )}
          {question.options !== undefined && (
            <Select
              label={T.home.hideUntil}
              value={given.value}
              options={question.options}
              onChange={(value) => setGiven({ ...given, value })}
            />
          )}
          {question.needsReason === true && (
            <Field
              label={T.reason}
              hint={T.reasonHint}
              value={given.reason}
              onInput={(reason) => setGiven({ ...given, reason })}
            />
          )}
          {failure !== '' && <Failure>{failure}</Failure>}
          <div class="actions end">
            <Button onClick={() => (asking.value = null)}>{T.cancel}</Button>
            <button
              type="submit"
              class={`button ${question.danger === true ? 'danger' : 'primary'}`}
              disabled={!isReady || isBusy}
            >
              {question.verb}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}

interface ToastContent {
  readonly text: string;
  readonly isBad: boolean;
  readonly undo?: (() => unknown) | undefined;
}
const toast = signal<ToastContent | null>(null);
const TOAST_MS = 8_000;

function setToast(next: ToastContent): void {
  toast.value = next;
  setTimeout(() => {
    if (toast.value === next) toast.value = null;
  }, TOAST_MS);
}

/** Sends an action and shows a toast, with an undo button if undo is possible. */
export async function perform<Answer>(
  action: string,
  body: object,
  done: string,
  undo?: (answer: Answer) => unknown,
): Promise<Answer> {
  const answer = await (await post(action, body)).json();
  setToast({ text: done, isBad: false, undo: undo && (() => undo(answer)) });
  return answer;
}

/** Like `perform`, for actions without a dialog: the toast also shows errors. */
export const performNow = (...args: Parameters<typeof perform>): Promise<unknown> =>
  perform(...args).catch((error: Error) => setToast({ text: error.message, isBad: true }));

export const showToast = (text: string, isBad = false): void => setToast({ text, isBad });

export function Toast() {
  const now = toast.value;
  return (
    <div class="toast-place" role="status" aria-live="polite">
      {now !== null && (
        <div class={now.isBad ? 'toast bad' : 'toast'}>
          <span class="lines">{now.text}</span>
          {now.undo !== undefined && (
            <button
              type="button"
              class="link"
              onClick={() => {
                toast.value = null;
                now.undo?.();
              }}
            >
              {T.undo}
            </button>
          )}
          <button type="button" class="link" onClick={() => (toast.value = null)}>
            {T.close}
          </button>
        </div>
      )}
    </div>
  );
}
