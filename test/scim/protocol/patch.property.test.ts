import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyPatch, readResource } from '../../../shared/scim/protocol/patch/apply.ts';
import { readPatch } from '../../../shared/scim/protocol/patch/operation.ts';
import { resourceTypes } from '../../../shared/scim/protocol/resource-type.ts';
import { elements, type ScimObject, type ScimValue } from '../../../shared/scim/protocol/value.ts';
import { always, runs } from '../../support/engine/runs.ts';

/*
 * These tests compare the server's result of a PATCH with the result of a second implementation, which follows the text
 * of RFC 7644 section 3.5.2 and changes one value at a time.
 */

const { User } = resourceTypes(true);

type Parts = { readonly [part: string]: string | null };
type Held = Record<string, string>;
/** A user in the form that a client sees. A missing value is null, an empty list or an empty object. */
type Person = { readonly title: string | null; readonly name: Held; readonly emails: readonly Held[] };

interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly attribute: 'title' | 'name' | 'emails';
  /** The type in the path `emails[type eq "…"]`. */
  readonly type?: string;
  readonly part?: string;
  /** The value of the operation; undefined in a removal. */
  readonly value: ScimValue | undefined;
}

const word = fc.constantFrom('a', 'b', null);
const type = fc.constantFrom('work', 'home');
/** Draws an object with some of these parts. Each part has a value or is null. */
const parts = (...names: readonly string[]): fc.Arbitrary<Parts> =>
  fc
    .tuple(...names.map((name) => fc.option(name === 'type' ? type : word, { nil: undefined })))
    .map((values) =>
      Object.fromEntries(
        names.flatMap((name, n) => (values[n] === undefined ? [] : [[name, values[n] ?? null] as const])),
      ),
    );
const email = parts('value', 'type', 'display');
const name = parts('givenName', 'familyName');
const list = fc.array(email, { maxLength: 3 });

const target: fc.Arbitrary<Omit<Operation, 'op'>> = fc.oneof(
  fc.record({ attribute: fc.constant('title' as const), value: word }),
  fc.record({ attribute: fc.constant('name' as const), value: fc.option(name) }),
  fc.record({ attribute: fc.constant('name' as const), part: fc.constant('familyName'), value: word }),
  fc.record({ attribute: fc.constant('emails' as const), value: fc.option(list) }),
  fc.record({ attribute: fc.constant('emails' as const), type, value: fc.option(email) }),
  fc.record({
    attribute: fc.constant('emails' as const),
    type,
    part: fc.constantFrom('value', 'display'),
    value: word,
  }),
);
const operation: fc.Arbitrary<Operation> = fc
  .tuple(fc.constantFrom('add', 'replace', 'remove'), target)
  .map(([op, rest]) => ({ ...rest, op, value: op === 'remove' ? undefined : rest.value }));

const person = fc
  .record({ title: word, name: fc.option(name), emails: fc.option(list) })
  .map((given) => readResource({ userName: 'u', ...given }, User));

const spelt = ({ op, attribute, type: selected, part, value }: Operation): ScimObject => ({
  op,
  path: [
    selected === undefined ? attribute : `${attribute}[type eq "${selected}"]`,
    ...(part ? [part] : []),
  ].join('.'),
  ...(value === undefined ? {} : { value }),
});

/**
 * Merges the given parts into the value. Other parts stay unchanged, and null removes a part (RFC 7643 section 2.5).
 */
const merge = (before: Held, given: Parts): Held =>
  Object.fromEntries(
    Object.entries({ ...before, ...given }).filter((one): one is [string, string] => one[1] !== null),
  );

const isSomething = (one: Held) => Object.keys(one).length > 0;

/**
 * Removes repetitions: addresses with equal type and value (RFC 7643 section 2.4), and equal addresses without a value.
 */
function distinct(emails: readonly Held[]): readonly Held[] {
  const after: Held[] = [];
  for (const one of emails.filter(isSomething)) {
    const at = after.findIndex((old) =>
      'value' in one
        ? old['type'] === one['type'] && old['value'] === one['value']
        : sorted(old) === sorted(one),
    );
    if (at === -1) after.push(one);
    else after[at] = { ...after[at], ...one };
  }
  return after;
}
const sorted = (one: Held) => JSON.stringify(Object.entries(one).toSorted());

/** Returns the e-mail addresses after an operation on the whole list. */
function whole(
  before: readonly Held[],
  op: 'add' | 'replace',
  value: readonly Parts[] | null,
): readonly Held[] {
  const given = (value ?? []).map((one) => merge({}, one)).filter(isSomething);
  if (given.length === 0) return op === 'replace' && !value?.length ? [] : before;
  if (op === 'add') return [...before, ...given];
  // An address without a value is merged into the existing address of the same type. If no address has a value, the
  // list is not replaced.
  const meant = given.map((one) =>
    'value' in one ? one : { ...before.find((old) => old['type'] === one['type']), ...one },
  );
  return given.some((one) => 'value' in one) ? meant : [...before, ...meant];
}

/** Returns the addresses after an operation on one type. A missing address is created, as Entra ID expects. */
function selected(before: readonly Held[], { op, type: kind = '', part, value }: Operation) {
  const isMeant = (one: Held) => one['type'] === kind;
  const given = (part === undefined ? value : { [part]: value ?? null }) as Parts | null | undefined;
  const change = (one: Held): Held => {
    if (given == null) return {};
    // If the given address has a value, it replaces each selected address and gets the selected type.
    return op === 'replace' && part === undefined && given['value'] != null
      ? merge({ type: kind }, given)
      : merge(one, given);
  };
  if (before.some(isMeant)) return before.map((one) => (isMeant(one) ? change(one) : one));
  const says = given != null && isSomething(merge({}, given));
  return op === 'remove' || !says ? before : [...before, merge({ type: kind }, given)];
}

function emailsAfter(before: readonly Held[], operation: Operation): readonly Held[] {
  const { op, type: kind, value } = operation;
  if (kind !== undefined) return selected(before, operation);
  if (op === 'remove') return [];
  return whole(before, op, value as readonly Parts[] | null);
}

function reading(before: Person, operation: Operation): Person {
  const { attribute, part, value } = operation;
  if (attribute === 'title') return { ...before, title: (value ?? null) as string | null };
  if (attribute === 'name') {
    const given = (part === undefined ? value : { [part]: value ?? null }) as Parts | null | undefined;
    return { ...before, name: given == null ? {} : merge(before.name, given) };
  }
  return { ...before, emails: distinct(emailsAfter(before.emails, operation)) };
}

const seen = ({ title = null, name: held = {}, emails = [] }: ScimObject) =>
  ({ title, name: held, emails }) as Person;

/** Returns undefined for a refused request: a filter without a match, or two primary addresses. */
function served(before: ScimObject, operations: readonly ScimObject[]): ScimObject | undefined {
  try {
    return applyPatch(before, readPatch({ Operations: operations }), User);
  } catch (error) {
    const scimType = expect.stringMatching(/^(?:noTarget|invalidValue)$/);
    expect(error).toMatchObject({ status: 400, scimType });
    return undefined;
  }
}

always(
  'a PATCH operation has exactly the effect that the RFC defines',
  fc.property(person, operation, (before, one) => {
    const after = applyPatch(before, readPatch({ Operations: [spelt(one)] }), User);
    expect(seen(after)).toEqual(reading(seen(before), one));
  }),
  3_000,
);

it('a PATCH that contains no address value removes no address, for each notation of the request', () => {
  const aside = fc.record(
    { display: word, primary: fc.constantFrom(true, false, null), formatted: word },
    { requiredKeys: [] },
  );
  const paths = fc.constantFrom('emails', 'emails[type eq "work"]', 'EMAILS[Type eq "work" and display pr]');
  const request = fc
    .tuple(
      fc.constantFrom('add', 'replace', 'Replace'),
      paths,
      fc.oneof(aside, fc.array(aside, { minLength: 1, maxLength: 2 })),
      fc.boolean(),
    )
    .filter(([, path, value]) => path === 'emails' || !Array.isArray(value))
    .map(
      ([op, path, value, hasPath]): ScimObject =>
        hasPath ? { op, path, value } : { op, value: { [path]: value } },
    );
  const addresses = ({ emails }: ScimObject) =>
    elements(emails).flatMap((one) => (one as ScimObject)['value'] ?? []);
  fc.assert(
    fc.property(person, fc.array(request, { minLength: 1, maxLength: 3 }), (before, requests) => {
      const after = served(before, requests);
      if (after !== undefined) expect(addresses(after)).toEqual(addresses(before));
    }),
    runs(3_000),
  );
});
