import type { SettingField } from '../answers.ts';
import { Field } from './parts.tsx';
import { T } from './texts.ts';

/** The text in the input of a setting. A list has one line for each entry. */
export function draftOf({ form }: SettingField, value: unknown): string {
  switch (form.kind) {
    case 'group':
      return String(value !== null);
    case 'list':
      return (value as readonly string[]).join('\n');
    case 'json':
      return JSON.stringify(value, null, 2);
    default:
      return value === null ? '' : String(value);
  }
}

/** The value of a draft, or the reason why it is not valid. The server also checks the value. */
type Entered = { readonly value: unknown } | { readonly problem: string };

export function enteredIn({ form, isNullable }: SettingField, draft: string): Entered {
  switch (form.kind) {
    case 'group':
      return { value: draft === 'true' ? {} : null };
    case 'switch':
      return { value: draft === 'true' };
    case 'list':
      return { value: linesOf(draft) };
    case 'json':
      return parsed(draft);
    case 'number': {
      if (draft.trim() === '' && isNullable) return { value: null };
      const value = Number(draft);
      const isValid =
        draft.trim() !== '' &&
        value >= form.least &&
        value <= form.most &&
        (!form.isWhole || Number.isInteger(value));
      return isValid ? { value } : { problem: T.settings.limits(form) };
    }
    default:
      return { value: draft };
  }
}

const linesOf = (draft: string): readonly string[] =>
  draft
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

function parsed(draft: string): Entered {
  try {
    return { value: JSON.parse(draft) };
  } catch {
    return { problem: T.settings.notJson };
  }
}

export function formatValue({ key, form }: SettingField, value: unknown): string {
  if (value === null || value === undefined) return form.kind === 'group' ? T.settings.off : T.settings.empty;
  switch (form.kind) {
    case 'group':
      return T.settings.on;
    case 'switch':
      return value === true ? T.settings.on : T.settings.off;
    case 'choice':
      return T.settings.of[key]?.choices?.[String(value)]?.[0] ?? String(value);
    case 'number':
      return Number(value).toLocaleString('en');
    case 'list':
      return (value as readonly string[]).join(', ') || T.settings.empty;
    case 'json':
      return JSON.stringify(value);
    default:
      return String(value);
  }
}

interface InputProps {
  readonly field: SettingField;
  readonly draft: string;
  readonly set: (draft: string) => void;
}

export function SettingInput({ field, draft, set }: InputProps) {
  const { key, form, isNullable } = field;
  const { title = key, choices = {} } = T.settings.of[key] ?? {};
  switch (form.kind) {
    case 'choice':
      return (
        <Options
          title={title}
          options={form.values.map((value) => [value, ...(choices[value] ?? [value])])}
          isChosen={(value) => draft === value}
          choose={set}
        />
      );
    case 'switch':
    case 'group':
      return (
        <Options
          title={title}
          options={[
            ['true', T.settings.on],
            ['false', T.settings.off],
          ]}
          isChosen={(value) => draft === value}
          choose={set}
        />
      );
    case 'number':
      return (
        <Field
          label={T.settings.value}
          isNumber
          value={draft}
          onInput={set}
          hint={T.settings.limits(form) + (isNullable ? T.settings.orEmpty : '')}
        />
      );
    case 'list':
      return form.values === null ? (
        <Lines label={T.settings.onePerLine} draft={draft} set={set} />
      ) : (
        <Options
          title={title}
          options={form.values.map((value) => [value, value])}
          isChosen={(value) => linesOf(draft).includes(value)}
          choose={(value) => set(toggled(form.values ?? [], linesOf(draft), value).join('\n'))}
          isMultiple
        />
      );
    case 'json':
      return <Lines label={T.settings.value} draft={draft} set={set} />;
    default:
      return <Field label={T.settings.value} value={draft} onInput={set} />;
  }
}

const toggled = (all: readonly string[], chosen: readonly string[], value: string): readonly string[] =>
  all.filter((one) => (one === value ? !chosen.includes(value) : chosen.includes(one)));

interface OptionsProps {
  readonly title: string;
  readonly options: readonly (readonly [value: string, label: string, text?: string])[];
  readonly isChosen: (value: string) => boolean;
  readonly choose: (value: string) => void;
  readonly isMultiple?: boolean;
}

function Options({ title, options, isChosen, choose, isMultiple = false }: OptionsProps) {
  return (
    <fieldset class="options">
      <legend class="unseen">{title}</legend>
      {options.map(([value, label, text]) => (
        <label key={value}>
          <input
            type={isMultiple ? 'checkbox' : 'radio'}
            name={title}
            checked={isChosen(value)}
            onChange={() => choose(value)}
          />
          <span>
            {label}
            {text !== undefined && <span class="muted"> – {text}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

const Lines = ({ label, draft, set }: Omit<InputProps, 'field'> & { readonly label: string }) => (
  <label class="field">
    <span>{label}</span>
    <textarea
      class="code"
      rows={Math.min(12, Math.max(3, draft.split('\n').length + 1))}
      spellcheck={false}
      value={draft}
      onInput={(event) => set(event.currentTarget.value)}
    />
  </label>
);
