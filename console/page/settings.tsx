import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConnectionPage, SettingField, SettingsPreview } from '../answers.ts';
import { perform, performNow } from './actions.tsx';
import { post } from './net.ts';
import { Button, Section } from './parts.tsx';
import { query } from './route.ts';
import { draftOf, enteredIn, formatValue, SettingInput } from './setting-input.tsx';
import { SECTIONS } from './texts/settings.ts';
import { T } from './texts.ts';

interface Props extends Pick<ConnectionPage, 'settings' | 'fields'> {
  readonly reload: () => Promise<void>;
}

export function Settings({ settings, fields, reload }: Props) {
  const [editing, setEditing] = useState<string | null>(null);
  const asked = query.value.get('setting');
  useEffect(() => setEditing(asked), [asked]);
  const done = () => {
    setEditing(null);
    void reload();
  };
  const hasFourEyes = settings['fourEyes'] === true;
  return (
    <Section title={T.conn.settings}>
      {SECTIONS.map((section) => (
        <details
          key={section}
          class="settings-part"
          open={section !== 'advanced' || keysOf(section).includes(editing ?? '')}
        >
          <summary>{T.settings.sections[section]}</summary>
          {section === 'safety' && hasFourEyes && <p class="notice">{T.settings.fourEyesOn}</p>}
          <ul class="settings">
            {keysOf(section)
              .flatMap((key) => fields.find((field) => field.key === key) ?? [])
              .map((field) => (
                <Setting
                  key={field.key}
                  field={field}
                  value={valueAt(settings, field.key)}
                  isOpen={editing === field.key}
                  set={(isOpen) => setEditing(isOpen ? field.key : null)}
                  done={done}
                />
              ))}
          </ul>
        </details>
      ))}
    </Section>
  );
}

const keysOf = (section: string): readonly string[] =>
  Object.keys(T.settings.of).filter((key) => T.settings.of[key]?.section === section);

const valueAt = (settings: unknown, key: string): unknown =>
  key
    .split('.')
    .reduce<unknown>(
      (level, name) => (level as Readonly<Record<string, unknown>> | null)?.[name] ?? null,
      settings,
    );

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

interface SettingProps {
  readonly field: SettingField;
  readonly value: unknown;
  readonly isOpen: boolean;
  readonly set: (isOpen: boolean) => void;
  readonly done: () => void;
}

function Setting({ field, value, isOpen, set, done }: SettingProps) {
  const { key } = field;
  const { title = key, text = '' } = T.settings.of[key] ?? {};
  const isDefault = field.form.kind === 'group' ? value !== null : isSame(value, field.default);
  const hasDefault = field.default !== null || field.isNullable;
  const item = useRef<HTMLLIElement>(null);
  const isAsked = query.value.get('setting') === key;
  useEffect(() => {
    if (isAsked) item.current?.scrollIntoView({ block: 'center' });
  }, [isAsked]);
  return (
    <li ref={item}>
      <div class="line">
        <span>
          <b>{title}</b>
          <small class="muted block">{text}</small>
        </span>
        <span class="setting-value">
          {formatValue(field, value)}
          {hasDefault && (
            <small class="muted block">
              {isDefault ? T.settings.isDefault : T.settings.defaultIs(formatValue(field, field.default))}
            </small>
          )}
        </span>
        <Button
          use="preview-settings"
          isOpen={isOpen}
          onClick={() => set(!isOpen)}
          label={T.conn.editOf(title)}
        >
          {T.conn.edit}
        </Button>
      </div>
      {isOpen && <Edit field={field} before={value} done={done} />}
    </li>
  );
}

interface EditProps {
  readonly field: SettingField;
  readonly before: unknown;
  readonly done: () => void;
}

/**
 * Edits a setting. The request contains the value that was shown first, so that the server detects a change by
 * another operator.
 */
function Edit({ field, before, done }: EditProps) {
  const [read] = useState(before);
  const [draft, setDraft] = useState(draftOf(field, read));
  const [shown, setShown] = useState<
    { readonly draft: string; readonly preview: SettingsPreview | Error } | 'busy' | null
  >(null);
  const entered = enteredIn(field, draft);
  const problem = 'problem' in entered ? entered.problem : undefined;
  const value = 'value' in entered ? entered.value : read;
  const changes = [{ key: field.key, value, before: read }];
  const preview = async (event: Event) => {
    event.preventDefault();
    if (problem !== undefined) return;
    setShown('busy');
    const answer = await post('preview-settings', { changes })
      .then(async (response) => (await response.json()) as SettingsPreview)
      .catch((error: Error) => error);
    setShown({ draft, preview: answer });
  };
  const save = async () => {
    const back = [{ key: field.key, value: read, before: value }];
    const undo = () => performNow('settings', { changes: back }, T.conn.saved).then(done);
    const isRequest = seen !== undefined && !(seen instanceof Error) && seen.requested.length > 0;
    const saved = isRequest
      ? perform('settings', { changes }, T.conn.requested)
      : perform('settings', { changes }, T.conn.saved, undo);
    await saved.then(done, (error: Error) => setShown({ draft, preview: error }));
  };
  const isSeen = shown !== null && shown !== 'busy' && shown.draft === draft;
  const seen = isSeen ? shown.preview : undefined;
  // Only an administrator may weaken safety.
  const weakens = seen !== undefined && !(seen instanceof Error) && seen.weakens;
  const mayBeSaved = seen !== undefined && !(seen instanceof Error) && seen.changes.length > 0;
  return (
    <form class="edit" onSubmit={preview}>
      <SettingInput field={field} draft={draft} set={setDraft} />
      <p class="muted small">
        <code>{field.key}</code>
      </p>
      {problem !== undefined && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <div class="actions">
        <button type="submit" class="button" aria-disabled={problem === undefined ? undefined : 'true'}>
          {T.conn.preview}
        </button>
        <Button
          kind="primary"
          use={weakens ? 'decide-requests' : 'settings'}
          not={mayBeSaved ? undefined : T.conn.previewFirst}
          onClick={save}
        >
          {T.conn.save}
        </Button>
      </div>
      <div role="status">
        {shown === 'busy' && <p class="muted">{T.adoption.planning}</p>}
        {seen instanceof Error && <p class="notice bad lines">{seen.message}</p>}
        {seen !== undefined && !(seen instanceof Error) && <Effect of={seen} />}
      </div>
    </form>
  );
}

const SHOWN = 50;

function Effect({ of }: { readonly of: SettingsPreview }) {
  const { changes, requested, weakens } = of;
  if (changes.length === 0) return <p class="muted">{T.conn.noChange}</p>;
  if (requested.length > 0) return <p class="notice warn">{T.conn.needsAnother}</p>;
  return (
    <>
      {weakens && <p class="notice warn">{T.settings.weakens}</p>}
      <PlanEffects of={of} />
    </>
  );
}

function PlanEffects({ of: { replans, effects, total } }: { readonly of: SettingsPreview }) {
  if (!replans) return <p class="muted">{T.conn.callsOnly}</p>;
  if (effects === null) return <p class="notice warn">{T.conn.tooMany}</p>;
  if (effects.length === 0) return <p class="muted">{T.conn.noEffect}</p>;
  return (
    <div class="notice warn">
      <strong>{T.conn.effect(effects.length, total)}</strong>
      <ul class="plain">
        {effects.slice(0, SHOWN).map(({ group, name, members, ...effect }) => (
          <li key={group}>
            {name ?? group}: {T.conn.effectOf(effect)}
            {members.map((line) => (
              <small class="muted block">{line}</small>
            ))}
          </li>
        ))}
        {effects.length > SHOWN && <li>{T.activity.more(effects.length - SHOWN)}</li>}
      </ul>
    </div>
  );
}
