import { visible } from './words.ts';

/*
 * `--no-names`: whatever a command reads is overheard, and what of it is a name is left out of all that is printed, also
 * where a reason, an error or a person's own words repeat it. Ids stay, and the words that are ours. An address is known
 * by its form, wherever it stands.
 */
export type Redactor = ReturnType<typeof createRedactor>;

const HIDDEN = '…';
const ADDRESS = /[^\s@<>()[\]"',;:=/]+@[^\s@<>()[\]"',;:/]+\.[\p{L}\p{N}-]+/gu;
const SAID_WITH_ID = /…(?: <…>)? \(([^()\s]+)\)/g;
/** What a line of a file has in place of what was expected, to its end: it may be cut. */
const READ = /(?<=, got (?:\d+ fields?: )?)".*/s;
const NAMING = /name$|mail|login/i;
const NAMED_CHANGE = /^(?:name|rename|create_group|adopt_group)$/;
/** Dead-lettered messages are kept whole, and whatever may stand in them is not known. */
const DEAD_LETTER = /_deadLetter$|^dlq_(?:edit|discard)$/;
const SAYS = /^(?:before|after|reason)$/;
const EMPTY: Readonly<Record<string, unknown>> = {
  ...{ body: HIDDEN, groupName: HIDDEN, scim: null, attributes: {}, values: {} },
};
/** Where nothing stands but ids and words of ours. */
const OURS =
  /^(?:id|group|member|users?|connection|role|platformId|kind|action|outcome|state|decision|code|queue|register|rule|drift)$/;

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const saysOf = ({ kind, action }: Fields, form: RegExp) =>
  form.test(String(kind)) || form.test(String(action));

/** The reason that an operator gave: it may name a person. A plain word (“ok”) would be replaced everywhere else too. */
function reasonOf(value: Fields): unknown {
  const isOfPerson = 'actor' in value || 'by' in value || value['state'] === 'paused';
  const { reason } = value;
  return isOfPerson && !/^[a-z_]*$/.test(String(reason)) ? reason : undefined;
}

const entriesOf = (value: Fields): Iterable<readonly [string, unknown]> =>
  value instanceof Map ? value : Object.entries(value);

export function createRedactor() {
  const heard = new Set<string>();
  let known = /(?!)/g;
  let counted = 0;
  const hear = (word: unknown) => {
    const text = isFields(word) ? word['value'] : word;
    if (typeof text === 'string' && text !== '') heard.add(text).add(visible(text));
  };
  const learn = (value: unknown): void => {
    if (!isFields(value) || value instanceof Uint8Array) return;
    const isChange = saysOf(value, NAMED_CHANGE);
    hear(reasonOf(value));
    for (const [key, one] of entriesOf(value)) {
      if (NAMING.test(key) || (isChange && SAYS.test(key))) hear(one);
      learn(one);
    }
  };
  const text = (plain: string): string => {
    if (heard.size > counted) known = anyOf(heard);
    counted = heard.size;
    return plain.replace(ADDRESS, HIDDEN).replace(known, HIDDEN).replace(SAID_WITH_ID, '$1');
  };
  const hidden = (value: unknown, key: string): unknown => {
    if (typeof value === 'string')
      return OURS.test(key) ? value.replace(ADDRESS, HIDDEN) : text(value.replace(READ, HIDDEN));
    if (Array.isArray(value)) return value.map((one) => hidden(one, key));
    if (!isFields(value)) return value;
    const isDeadLetter = saysOf(value, DEAD_LETTER);
    const fields = Object.entries(value).map(([of, one]) => {
      const isWhole = (of in EMPTY || (isDeadLetter && SAYS.test(of))) && one !== null && !Array.isArray(one);
      return [of, isWhole ? (EMPTY[of] ?? (of === 'scim' ? null : HIDDEN)) : hidden(one, of)];
    });
    return Object.fromEntries(fields);
  };
  return {
    overhear: <Ports extends object>(ports: Ports): Ports => overheard(ports, learn),
    text,
    document: <Document>(document: Document) => hidden(document, '') as Document,
  };
}

/** As whole words; the longest first, since one name may be part of another. A colour code ends in a letter. */
function anyOf(names: ReadonlySet<string>): RegExp {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const words = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return new RegExp(`(?<=^|[^\\p{L}\\p{N}_-])(?:${words})(?![\\p{L}\\p{N}_-])`, 'gu');
}

/** Connections, queues and functions are named by their ids. */
const NAMELESS: readonly unknown[] = ['connections', 'deployment', 'mailboxes'];

function overheard<Part extends object>(part: Part, learn: (value: unknown) => void): Part {
  async function* paged(pages: AsyncIterable<unknown>) {
    for await (const page of pages) yield told(page);
  }
  const told = (value: unknown): unknown => {
    if (value instanceof Promise) return value.then(told);
    if (isFields(value) && Symbol.asyncIterator in value) return paged(value as never);
    if (isPart(value)) return overheard(value, learn);
    learn(value);
    return value;
  };
  return new Proxy(part, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (NAMELESS.includes(key)) return value;
      if (typeof value === 'function') return (...args: unknown[]) => told(value.apply(target, args));
      return isPart(value) ? overheard(value, learn) : value;
    },
  });
}

/** Something to be asked, not an answer; a platform has parts of its own. */
const isPart = (value: unknown): value is object =>
  isFields(value) && Object.values(value).some((one) => typeof one === 'function');
