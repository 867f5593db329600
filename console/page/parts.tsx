import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PersonName } from '../answers.ts';
import { exact, fromNow, visible } from './format.ts';
import { type Loadable, live, nowMs, Refused } from './net.ts';
import { connection, filterBy, given, id, page, pathTo } from './route.ts';
import { T } from './texts.ts';

type Children = { readonly children?: ComponentChildren };

export function Page(props: Children & { title: ComponentChildren; aside?: ComponentChildren }) {
  const { title, aside, children } = props;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = visible(T.title(heading.current?.textContent ?? '', connection.value || T.every.title));
  });
  return (
    <>
      <header class="page-head">
        <h1 ref={heading}>{title}</h1>
        {aside !== undefined && <div class="actions">{aside}</div>}
      </header>
      {children}
    </>
  );
}

export function Section(props: Children & { title: string; aside?: ComponentChildren }) {
  return (
    <section class="card">
      <div class="section-head">
        <h2>{props.title}</h2>
        {props.aside}
      </div>
      {props.children}
    </section>
  );
}

export function Answered<Answer>(props: {
  loadable: Loadable<Answer>;
  children: (value: Answer) => ComponentChildren;
}) {
  const { value, error, reload } = props.loadable;
  if (value !== undefined) return <>{props.children(value)}</>;
  if (error === undefined) return <Skeleton />;
  if (error instanceof Refused && error.status === NOT_FOUND && id.value !== '')
    return <Missing error={error} />;
  return (
    <div class="notice bad" role="alert">
      <strong>{T.failed}</strong>
      <p class="lines">{error.message}</p>
      <Button onClick={reload}>{T.tryAgain}</Button>
    </div>
  );
}

const NOT_FOUND = 404;

/** Shown if the object in the address does not exist. It links to the list of such objects. */
const Missing = ({ error }: { readonly error: Error }) => (
  <Page title={T.missing(id.value)}>
    <section class="card">
      <Empty title={error.message}>
        <a href={pathTo(page.value)}>{T.missingNext}</a>
      </Empty>
    </section>
  </Page>
);

/** Appears only after a short delay. */
function Skeleton() {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={isLate ? 'skeleton' : 'skeleton hidden'} role="status" aria-label={T.loading}>
      <i />
      <i />
      <i />
      <i />
    </div>
  );
}

export function Empty({ title, children }: Children & { title: string }) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children !== undefined && <p class="muted">{children}</p>}
    </div>
  );
}

export interface ButtonProps extends Children {
  readonly onClick: () => unknown;
  readonly kind?: 'primary' | 'danger' | 'quiet' | undefined;
  readonly not?: string | undefined;
  /** The action or query that the button leads to. The button is disabled if the person's role may not use it. */
  readonly use?: string | undefined;
  readonly label?: string;
  /** Whether the part of the page is open that the button opens and closes; undefined for other buttons. */
  readonly isOpen?: boolean;
}

/** Why the role of the person may not use an action or a query; undefined if it may. */
export function refusalOf(use: string | undefined): string | undefined {
  const { role = null, refused = {} } = live.value ?? {};
  const required = use === undefined ? undefined : refused[use];
  return required === undefined || role === null ? undefined : T.needsRole(required, role);
}

/** A disabled button stays focusable, and shows the reason. */
export function Button({ onClick, kind, use, not = refusalOf(use), label, isOpen, children }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${kind ?? ''}`}
      aria-expanded={isOpen}
      aria-disabled={not === undefined ? undefined : 'true'}
      title={not}
      aria-label={label}
      onClick={() => not === undefined && onClick()}
    >
      {children}
      {not !== undefined && <span class="unseen"> ({not})</span>}
    </button>
  );
}

/** Points to the right beside a closed part, and down beside an open part. */
export const Chevron = () => (
  <span class="chevron" aria-hidden="true">
    ›
  </span>
);

interface TabsProps {
  readonly label: string;
  readonly current: string;
  readonly of: readonly (readonly [name: string, title: string, path: string])[];
}

/** Links to the parts of a page. The address contains the open part. */
export const Tabs = ({ label, current, of }: TabsProps) => (
  <nav class="tabs" aria-label={label}>
    {of.map(([name, title, path]) => (
      <a key={name} href={path} aria-current={name === current ? 'page' : undefined}>
        {title}
      </a>
    ))}
  </nav>
);

/** Buttons of which one is pressed, for example to limit a list to one state. */
export const Chips = (props: {
  readonly label: string;
  readonly current: string;
  readonly of: readonly (readonly [value: string, content: ComponentChildren])[];
  readonly choose: (value: string) => void;
}) => (
  <div class="chips" role="group" aria-label={props.label}>
    {props.of.map(([value, content]) => (
      <button
        key={value}
        type="button"
        class="chip"
        aria-pressed={value === props.current}
        onClick={() => props.choose(value)}
      >
        {content}
      </button>
    ))}
  </div>
);

/** A dialog that is open as long as it is on the page. */
export function Dialog({ label, close, children }: Children & { label: string; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label={label} onClose={close}>
      {children}
      <div class="actions end">
        <Button onClick={() => dialog.current?.close()}>{T.close}</Button>
      </div>
    </dialog>
  );
}

export const Failure = ({ children }: Children) => (
  <p class="notice bad lines" role="alert">
    {children}
  </p>
);

/** A message that ends with an answer of the platform, as JSON or HTML. */
const WITH_ANSWER = /^(.*?), [a-z]+: ([[{<].*)$/su;

export const withoutAnswer = (message: string): string => WITH_ANSWER.exec(message)?.[1] ?? message;

/** A message. If it contains an answer of the platform, the answer is folded. */
export function Reason({ children }: { readonly children: string | null }) {
  const [, message = children ?? '', answer] = WITH_ANSWER.exec(children ?? '') ?? [];
  return (
    <>
      <span class="lines">{message}</span>
      {answer !== undefined && (
        <details class="answer">
          <summary>{T.answer}</summary>
          <code>{answer}</code>
        </details>
      )}
    </>
  );
}

export const Facts = ({ of }: { readonly of: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {of.map(([term, text]) => (
      <div key={term}>
        <dt>{term}</dt>
        <dd>{text ?? <span class="muted">{T.none}</span>}</dd>
      </div>
    ))}
  </dl>
);

export function State({ of }: { readonly of: string }) {
  return <span class={`state is-${of}`}>{T.states[of] ?? of}</span>;
}

/** A relative time, with the exact instant as tooltip and for screen readers. */
export function Time({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="muted">{T.none}</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {fromNow(at, nowMs.value)}
      <span class="unseen"> ({exact(at)})</span>
    </time>
  );
}

/**
 * Returns the text below the first line: the address if the first line is the name, or else the id. null if the id is
 * the first line.
 */
function secondLine({ id, name, email }: PersonName): string | null {
  if (name !== null) return email ?? id;
  return email === null ? null : id;
}

export function Person({ of, link = true }: { readonly of: PersonName; readonly link?: boolean }) {
  const { id, name, email } = of;
  const first = name ?? email ?? id;
  const second = secondLine(of);
  return (
    <span class="who">
      {link && id !== '' ? <a href={pathTo('people', id)}>{first}</a> : <span>{first}</span>}
      {second !== null && second !== first && <small class="muted">{second}</small>}
    </span>
  );
}

/** A user of a platform group, who may be unknown to the directory. */
export const Member = ({ of, unknown }: { of: PersonName & { user: string | null }; unknown: string }) =>
  of.id !== '' ? (
    <Person of={of} />
  ) : (
    <span class="who">
      <span>{of.user}</span>
      <small class="muted">{unknown}</small>
    </span>
  );

export const personName = ({ id, name, email }: PersonName): string => name ?? email ?? id;

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: 'search' | 'text';
  readonly isNumber?: boolean;
  readonly hint?: string;
  readonly unseenLabel?: boolean;
}

export function Field(props: FieldProps) {
  const { label, value, onInput, type = 'text', isNumber, hint, unseenLabel } = props;
  return (
    <label class="field">
      <span class={unseenLabel === true ? 'unseen' : ''}>{label}</span>
      <input
        type={type}
        value={value}
        placeholder={unseenLabel === true ? label : undefined}
        // The types of Preact require it for this union of types.
        list={undefined}
        inputMode={isNumber === true ? 'numeric' : 'text'}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {hint !== undefined && <small class="muted">{hint}</small>}
    </label>
  );
}

export const Search = ({ label }: Pick<FieldProps, 'label'>) => (
  <Field
    type="search"
    label={label}
    unseenLabel
    value={given('text')}
    onInput={(text) => filterBy({ text })}
  />
);

export const Filters = ({ children }: Children) => (
  <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
    {children}
  </form>
);

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

export function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <label class="field inline">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {Object.entries(options).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Sets a filter in the address. */
export const FilterSelect = (props: Pick<SelectProps, 'label' | 'options'> & { readonly name: string }) => (
  <Select
    label={props.label}
    options={props.options}
    value={given(props.name)}
    onChange={(value) => filterBy({ [props.name]: value })}
  />
);
