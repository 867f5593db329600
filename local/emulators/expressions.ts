import conditions from 'dynalite/db/conditionParser.js';
import updates from 'dynalite/db/updateParser.js';

/*
 * dynalite parses every expression again, with a parser that creates all its functions at each call. That took a fifth
 * of the local stack's processor time. The handlers send the same few dozen expressions thousands of times, each time
 * with other values. So this cache keeps one tree for each combination of expression, names and value types. It fills
 * in the values of each request.
 */

type Values = Readonly<Record<string, object>>;

export interface ExpressionParser {
  /** @returns a syntax tree, or an error message */
  parse: (text: string, options: { readonly context: Context }) => unknown;
}

interface Context {
  readonly attrNames?: Readonly<Record<string, string>>;
  readonly attrVals?: Values;
  /** The parser removes names that the expression uses. If any remain, dynalite rejects the request. */
  readonly unusedAttrNames: Record<string, unknown>;
  readonly unusedAttrVals: Record<string, unknown>;
}

type Template = (values: Values) => unknown;

/** The trees of these expressions are not cached, because the parser checks their values and not only the types. */
const CHECKS_VALUES = /between|attribute_type/i;
/** The cache is emptied at this size. The handlers use fewer expressions, but other programs may use more. */
const MAX_CACHED = 1000;

/** Returns a parser that caches the trees of `parse`. */
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
 * Returns a function that builds a copy of the tree for each request. A copy is needed because the tree contains the
 * values of a request, and an update changes the tree.
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
