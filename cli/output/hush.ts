import { visible } from './words.ts';

/*
 * `--no-names`: whatever a command reads is overheard, and what of it is a name is left out of all that is printed, also
 * where a reason, an error or a person's own words repeat it. Ids stay, and the words that are ours. An address is known
 * by its form, wherever it stands.
 */
export interface Hush {
  /** The same ports, overheard. */
  readonly overhear: <Ports extends object>(ports: Ports) => Ports;
  readonly text: (text: string) => string;
  readonly document: <Document>(document: Document) => Document;
}

const HIDDEN = '…';
const ADDRESS = /[^\s@<>()[\]"',;:=/]+@[^\s@<>()[\]"',;:/]+\.[\p{L}\p{N}-]+/gu;
const SAID_WITH_ID = /…(?: <…>)? \(([^()\s]+)\)/g;
const NAMING = /name$|mail|login/i;
const NAMED_CHANGE = /^(?:name|rename|create_group|adopt_group)$/;
/** Letters are kept whole, and whatever may stand in them is not known. */
const LETTER = /_letter$|^dlq_(?:edit|discard)$/;
const SAYS = /^(?:before|after|reason)$/;
/** Where nothing stands but ids and words of ours. */
const OURS =
  /^(?:id|group|member|users?|connection|role|platformId|kind|action|outcome|state|decision|code|queue|register|rule|drift)$/;

export function createHush(): Hush {
  const heard = new Set<string>();
  let known = /(?!)/g;
  let counted = 0;
  const hear = (text: unknown) => {
    if (typeof text === 'string' && text !== '') heard.add(text).add(visible(text));
  };
  const learn = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    const isChange = 'kind' in value && NAMED_CHANGE.test(String(value.kind));
    // What people give as their reason may name anybody.
    const isDeed = 'actor' in value || 'by' in value || ('state' in value && value.state === 'paused');
    if (isDeed && 'reason' in value && /\s/.test(String(value.reason))) hear(value.reason);
    const entries = value instanceof Map || value instanceof Set ? value.entries() : Object.entries(value);
    for (const [key, one] of entries) {
      const isNamed = typeof key === 'string' && (NAMING.test(key) || (isChange && SAYS.test(key)));
      if (isNamed) hear(one?.value ?? one);
      learn(one);
    }
  };
  const text = (plain: string): string => {
    if (heard.size > counted) known = anyOf(heard);
    counted = heard.size;
    return plain.replace(ADDRESS, HIDDEN).replace(known, HIDDEN).replace(SAID_WITH_ID, '$1');
  };
  const hidden = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return OURS.test(key) ? value.replace(ADDRESS, HIDDEN) : text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => hidden(one, key));
    const isLetter = 'kind' in value && LETTER.test(String(value.kind ?? ''));
    const isDeed = 'action' in value && LETTER.test(String(value.action));
    return Object.fromEntries(
      Object.entries(value).map(([of, one]) => {
        const isWhole = of === 'body' || ((isLetter || isDeed) && SAYS.test(of) && of !== 'reason');
        if (isWhole && typeof one === 'string') return [of, HIDDEN];
        if (of === 'scim') return [of, null];
        return [of, /^(?:attributes|values)$/.test(of) && !Array.isArray(one) ? {} : hidden(one, of)];
      }),
    );
  };
  return {
    overhear: (ports) => overheard(ports, learn),
    text,
    document: (document) => hidden(document, '') as typeof document,
  };
}

/** As whole words; the longest first, since one name may be part of another. */
function anyOf(names: ReadonlySet<string>): RegExp {
  const longestFirst = [...names].sort((a, b) => b.length - a.length);
  const words = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  // A colour ends in a letter.
  return new RegExp(`(?<=^|[^\\p{L}\\p{N}_-]|\\u001b\\[\\d+m)(?:${words})(?![\\p{L}\\p{N}_-])`, 'gu');
}

/** Connections are named by their ids, and so are queues and functions. */
const NAMELESS: readonly unknown[] = ['connections', 'deployment', 'mailboxes'];

function overheard<Part extends object>(part: Part, learn: (value: unknown) => void): Part {
  async function* paged(pages: AsyncIterable<unknown>) {
    for await (const page of pages) {
      learn(page);
      yield page;
    }
  }
  const told = (value: unknown): unknown => {
    if (value instanceof Promise) return value.then(told);
    if (typeof value !== 'object' || value === null) return value;
    if (Symbol.asyncIterator in value) return paged(value as AsyncIterable<unknown>);
    if (Object.values(value).some((one) => typeof one === 'function' || isPart(one)))
      return overheard(value, learn);
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

/** A port, not what it answers. */
const isPart = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).some((one) => typeof one === 'function');
