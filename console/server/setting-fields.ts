import type * as z from 'zod';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { formOf, type SettingForm } from '../../shared/contract/setting-forms.ts';
import { ConnectionSettings } from '../../shared/contract/settings.ts';

/**
 * The form in which a person enters the value of one setting. `group` means that the value is null or consists of
 * further settings. `json` stands for all forms that have no entry here.
 */
type FieldForm =
  | SettingForm
  | { readonly kind: 'text' | 'json' | 'group' }
  | { readonly kind: 'list'; readonly values: readonly string[] | null };

/** One setting that a person can change, as the schema of the settings defines it. */
export interface SettingField {
  /** Dotted: `guard.minSize`. */
  readonly key: string;
  readonly form: FieldForm;
  readonly isNullable: boolean;
  /** The default; null if the setting has no default. */
  readonly default: unknown;
}

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly element?: z.ZodType;
}

const definitionOf = (schema: z.ZodType) => schema.def as unknown as Definition;

/** Returns every setting in the order of the schema. A group of settings has its own field only if it may be null. */
export const settingFields = (): readonly SettingField[] =>
  fieldsOf(
    ConnectionSettings,
    { ...parseSettings({ baseUrl: 'https://platform.invalid' }), baseUrl: null },
    '',
  );

function fieldsOf(schema: z.ZodType, defaults: unknown, prefix: string): readonly SettingField[] {
  return Object.entries(definitionOf(schema).shape ?? {}).flatMap(([name, declared]) => {
    const key = `${prefix}${name}`;
    const { inner, isNullable } = unwrapped(declared);
    const value = (defaults as Readonly<Record<string, unknown>> | null)?.[name] ?? null;
    const field = { key, isNullable, default: value };
    if (definitionOf(inner).type !== 'object') return [{ ...field, form: formFor(inner) }];
    const group: readonly SettingField[] = isNullable ? [{ ...field, form: { kind: 'group' } }] : [];
    return [...group, ...fieldsOf(inner, value, `${key}.`)];
  });
}

/** Returns the inner schema, without the wrappers for the default and for null. */
function unwrapped(schema: z.ZodType): { readonly inner: z.ZodType; readonly isNullable: boolean } {
  const { type, innerType } = definitionOf(schema);
  if (innerType === undefined) return { inner: schema, isNullable: false };
  const { inner, isNullable } = unwrapped(innerType);
  return { inner, isNullable: isNullable || type === 'nullable' };
}

function formFor(schema: z.ZodType): FieldForm {
  const form = formOf(schema);
  if (form !== undefined) return form;
  const { type, element } = definitionOf(schema);
  if (type === 'custom') return { kind: 'text' };
  if (type !== 'array' || element === undefined || definitionOf(element).type !== 'custom')
    return { kind: 'json' };
  const item = formOf(element);
  return { kind: 'list', values: item?.kind === 'choice' ? item.values : null };
}
