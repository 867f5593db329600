import { visible } from './words.ts';

/*
 * `--no-names`: the redactor watches all data that a command reads and collects the names in it. It removes these
 * names from all output, including reasons, errors and free text. Ids and fixed texts stay. Addresses are
 * recognised by their form.
 */
export type Redactor = ReturnType<typeof createRedactor>;

const HIDDEN = '…';
const ADDRESS = /[^\s@<>()[\]"',;:=/]+@[^\s@<>()[\]"',;:/]+\.[\p{L}\p{N}-]+/gu;
const HIDDEN_WITH_ID = /…(?: <…>)? \(([^()\s]+)\)/g;
/**
 * Matches the rejected text in an error about a line of a file. It matches up to the end of the error, because the
 * closing quote may be cut off.
 */
const REJECTED_TEXT = /(?<=, got (?:\d+ fields?: )?)".*/s;
const NAMING = /name$|mail|login/i;
const NAMED_CHANGE = /^(?:name|rename|create_group|adopt_group|import)$/;
/** A dead-lettered message is hidden completely, because it may contain anything. */
const DEAD_LETTER = /_deadLetter$|^dlq_(?:edit|discard)$/;
const CHANGED_VALUES = /^(?:before|after|reason)$/;
const EMPTY: Readonly<Record<string, unknown>> = {
  body: HIDDEN,
  groupName: HIDDEN,
  scim: null,
  attributes: {},
  values: {},
};
/** Fields that contain only ids or fixed texts. */
const PLAIN_FIELDS =
  /^(?:id|group|member|users?|connection|role|platformId|kind|action|outcome|state|decision|code|queue|register|rule|drift)$/;

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const matchesKind = ({ kind, action }: Fields, form: RegExp) =>
  form.test(String(kind)) || form.test(String(action));

/**
 * Returns the reason that an operator gave, which may contain a person's name. A single word in lower case, such as
 * “ok”, is not hidden, because it would be replaced everywhere.
 */
function reasonOf(value: Fields): unknown {
  const isOfPerson = 'actor' in value || 'by' in value || value['state'] === 'paused';
  const { reason } = value;
  return isOfPerson && !/^[a-z_]*$/.test(String(reason)) ? reason : undefined;
}

const entriesOf = (value: Fields): Iterable<readonly [string, unknown]> =>
  value instanceof Map ? value : Object.entries(value);

export function createRedactor() {
  const personalTexts = new Set<string>();
  let known = /(?!)/g;
  let counted = 0;
  const addName = (found: unknown) => {
    const text = isFields(found) ? found['value'] : found;
    if (typeof text === 'string' && text !== '') personalTexts.add(text).add(visible(text));
  };
  const collectNames = (value: unknown): void => {
    if (!isFields(value) || value instanceof Uint8Array) return;
    const isChange = matchesKind(value, NAMED_CHANGE);
    addName(reasonOf(value));
    for (const [key, one] of entriesOf(value)) {
      if (NAMING.test(key) || (isChange && CHANGED_VALUES.test(key))) addName(one);
      collectNames(one);
    }
  };
  const text = (plain: string): string => {
    if (personalTexts.size > counted) known = anyOf(personalTexts);
    counted = personalTexts.size;
    return plain.replace(ADDRESS, HIDDEN).replace(known, HIDDEN).replace(HIDDEN_WITH_ID, '$1');
  };
  const hidden = (value: unknown, key: string): unknown => {
    if (typeof value === 'string')
      return PLAIN_FIELDS.test(key)
        ? value.replace(ADDRESS, HIDDEN)
        : text(value.replace(REJECTED_TEXT, HIDDEN));
    if (Array.isArray(value)) return value.map((one) => hidden(one, key));
    if (!isFields(value)) return value;
    const isDeadLetter = matchesKind(value, DEAD_LETTER);
    const fields = Object.entries(value).map(([of, one]) => {
      const isWhole =
        (of in EMPTY || (isDeadLetter && CHANGED_VALUES.test(of))) && one !== null && !Array.isArray(one);
      if (!isWhole) return [of, hidden(one, of)];
      return [of, Object.hasOwn(EMPTY, of) ? EMPTY[of] : HIDDEN];
    });
    return Object.fromEntries(fields);
  };
  // A connection contains no names of people, except in the reasons of blocks. Its own name must not be hidden.
  const collectReasons = (value: unknown): void => {
    for (const one of [value].flat()) if (isFields(one)) collectNames(one['blocks']);
  };
  return {
    watch: <Ports extends object>(ports: Ports): Ports => watched(ports, collectNames, collectReasons),
    text,
    document: <Document>(document: Document) => hidden(document, '') as Document,
  };
}

/** Matches whole words. Longer names come first, because a name may contain a shorter name. */
function anyOf(names: ReadonlySet<string>): RegExp {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const alternatives = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return new RegExp(`(?<=^|[^\\p{L}\\p{N}_-])(?:${alternatives})(?![\\p{L}\\p{N}_-])`, 'gu');
}

/** Ports whose data contain no names of people. */
const PORTS_WITHOUT_NAMES: readonly unknown[] = ['deployment', 'mailboxes'];

type Collect = (value: unknown) => void;

function watched<Part extends object>(part: Part, collectNames: Collect, ofConnections = collectNames): Part {
  async function* paged(pages: AsyncIterable<unknown>) {
    for await (const page of pages) yield learned(page);
  }
  const learned = (value: unknown): unknown => {
    if (value instanceof Promise) return value.then(learned);
    if (isFields(value) && Symbol.asyncIterator in value) return paged(value as never);
    if (isPart(value)) return watched(value, collectNames);
    collectNames(value);
    return value;
  };
  return new Proxy(part, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (PORTS_WITHOUT_NAMES.includes(key)) return value;
      if (key === 'connections' && isPart(value)) return watched(value, ofConnections);
      if (typeof value === 'function') return (...args: unknown[]) => learned(value.apply(target, args));
      return isPart(value) ? watched(value, collectNames) : value;
    },
  });
}

/** Returns true if the value is a port with methods, and not data. The platform port contains other ports. */
const isPart = (value: unknown): value is object =>
  isFields(value) && Object.values(value).some((one) => typeof one === 'function');
