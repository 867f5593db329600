import conditions from 'dynalite/db/conditionParser.js';
import updates from 'dynalite/db/updateParser.js';

/*
 * dynalite parses the expression of every request. Without this cache, parsing takes a fifth of the local stack's
 * processor time. The handlers send the same few dozen expressions thousands of times with different values. The cache
 * keeps one syntax tree for each combination of expression, names and value types. Each request gets a copy with its
 * values.
 */

type Values = Readonly<Record<string, object>>;

export interface ExpressionParser {
  /** @returns a syntax tree, or an error message */
  parse: (text: string, options: { readonly context: Context }) => unknown;
}

interface Context {
  readonly attrNames?: Readonly<Record<string, string>>;
  readonly attrVals?: Values;
  /** The parser removes the names that the expression uses. If a name remains, dynalite rejects the request. */
  readonly unusedAttrNames: Record<string, unknown>;
  readonly unusedAttrVals: Record<string, unknown>;
}

type Template = (values: Values) => unknown;

/** Expressions with these words are not cached, because the parser checks their values. */
const CHECKS_VALUES = /between|attribute_type/i;
/**
 * At this number of trees, the cache is emptied. The handlers use fewer expressions, but other programs can use more.
 */
const MAX_CACHED = 1000;

function caching(parse: ExpressionParser['parse']): ExpressionParser['parse'] {
  const cache = new Map<string, Template>();
  return (text, options) => {
    const { attrNames, attrVals = {}, unusedAttrNames, unusedAttrVals } = options.context;
    const types = Object.entries(attrVals).map(([name, value]) => [name, ...Object.keys(value)]);
    const key = JSON.stringify([text, attrNames, types]);
    const cached = cache.get(key);
    if (cached !== undefined) {
      for (const [name] of text.matchAll(/#\w+/g)) delete unusedAttrNames[name];
      for (const [name] of text.matchAll(/:\w+/g)) delete unusedAttrVals[name];
      return cached(attrVals);
    }
    const parsed = parse(text, options);
    if (typeof parsed !== 'object' || CHECKS_VALUES.test(text)) return parsed;
    if (cache.size === MAX_CACHED) cache.clear();
    cache.set(
      key,
      templateOf(parsed, new Map(Object.entries(attrVals).map(([name, value]) => [value, name]))),
    );
    return parsed;
  };
}

/**
 * Returns a function that builds a copy of the tree with the values of one request. Each request needs a copy, because
 * dynalite changes the tree during an update.
 */
function templateOf(part: unknown, names: ReadonlyMap<unknown, string>): Template {
  const name = names.get(part);
  if (name !== undefined) return (values) => values[name];
  if (Array.isArray(part)) {
    const items = part.map((item) => templateOf(item, names));
    return (values) => items.map((item) => item(values));
  }
  if (typeof part !== 'object' || part === null) return () => part;
  const entries = Object.entries(part).map(([key, value]) => [key, templateOf(value, names)] as const);
  return (values) => {
    const made = Object.create(null);
    for (const [key, value] of entries) made[key] = value(values);
    return made;
  };
}

for (const parser of [conditions, updates]) parser.parse = caching(parser.parse);
