import * as z from 'zod';
import { parsedUrl } from './url.ts';

/*
 * The forms of settings. Every form has a text that describes the expected value. This text is a part of messages such
 * as "key: expected …, got …".
 */

const SHOWN_INPUT_LENGTH = 80;

const shown = (input: unknown): string => {
  if (input === undefined) return 'nothing';
  const text = JSON.stringify(input) ?? String(input);
  return text.length > SHOWN_INPUT_LENGTH ? `${text.slice(0, SHOWN_INPUT_LENGTH)}…` : text;
};

/** Removes the parts of a URL that may be secret: a password before the host, a token after the path. */
const withoutSecrets = (input: unknown): unknown =>
  typeof input === 'string' ? input.replace(/^.*@/s, '…@').replace(/[?#].*/s, '…') : input;

export const expecting = (what: string, clean = (input: unknown) => input) => ({
  error: (issue: { readonly input?: unknown }) => `expected ${what}, got ${shown(clean(issue.input))}`,
});

/** Builds one schema without inner schemas, because a new worker builds all schemas at its start. */
const that = <Value>(what: string, holds: (input: unknown) => boolean, clean?: typeof withoutSecrets) =>
  z.custom<Value>(holds, expecting(what, clean));

export type SettingForm =
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'number'; readonly least: number; readonly most: number; readonly isWhole: boolean }
  | { readonly kind: 'switch' };

const forms = new WeakMap<object, SettingForm>();
export const formOf = (schema: object): SettingForm | undefined => forms.get(schema);

function entered<Schema extends z.ZodType>(schema: Schema, form: SettingForm): Schema {
  forms.set(schema, form);
  return schema;
}

export const oneOf = <const Values extends readonly string[]>(values: Values) =>
  entered(
    that<Values[number]>(values.map((value) => `"${value}"`).join(' or '), (input) =>
      values.some((value) => value === input),
    ),
    { kind: 'choice', values },
  );

export const numberThat = (what: string, is: (input: unknown) => boolean, least: number, most: number) =>
  entered(
    that<number>(
      `${what} from ${least} to ${most}`,
      (input) => is(input) && Number(input) >= least && Number(input) <= most,
    ),
    { kind: 'number', least, most, isWhole: is === Number.isInteger },
  );
export const wholeNumber = (least: number, most: number) =>
  numberThat('a whole number', Number.isInteger, least, most);

export const trueOrFalse = entered(
  that<boolean>('true or false', (input) => typeof input === 'boolean'),
  { kind: 'switch' },
);

export const textThat = (what: string, holds: (text: string) => boolean, clean?: typeof withoutSecrets) =>
  that<string>(what, (input) => typeof input === 'string' && holds(input), clean);

export function list<Item extends z.ZodType>(what: string, item: Item, least = 0) {
  const expected = expecting(what);
  return z
    .array(item, expected)
    .check(z.minLength(least, expected), z.maxLength(1_000, expecting('at most 1000 entries')));
}

export function object<Shape extends z.ZodRawShape>(what: string, shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `unknown ${(issue.keys as string[]).map((key) => `"${key}"`).join(', ')}`
        : `expected ${what}, got ${shown(issue.input)}`,
  });
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** groupsync sends secrets to this address, so the address must use https, or http on the same machine. */
function isBaseUrl(text: string): boolean {
  const url = parsedUrl(text);
  if (url === undefined) return false;
  const { protocol, hostname, username, password, search, hash } = url;
  if (username + password + search + hash !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

export const BaseUrl = textThat(
  'an https URL (http only for this machine) without query, user or password',
  isBaseUrl,
  withoutSecrets,
).overwrite((text) => text.replace(/\/{1,100}$/, ''));
