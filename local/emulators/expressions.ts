import conditions from 'dynalite/db/conditionParser.js';
import updates from 'dynalite/db/updateParser.js';

/*
 * dynalite parses every expression again, with a parser that creates all its functions at each call. That took a fifth
 * of the local stack's processor time. The handlers send a few dozen expressions thousands of times with other values.
 * So this cache keeps one tree per expression, names and value types, and fills in the values of each request.
 */

type Values = Readonly<Record<string, object>>;

export interface ExpressionParser {
  /** @returns a syntax tree, or an error message */
  parse: (text: string, options: { readonly context: Context }) => unknown;
}

interface Context {
  readonly attrNames?: Readonly<Record<string, string>>;
  readonly attrVals?: Values;
  /** dynalite rejects a request if names or values remain here. The parser removes those that the expression uses. */
  readonly unusedAttrNames: Record<string, unknown>;
  readonly unusedAttrVals: Record<string, unknown>;
}

type Template = (values: Values) => unknown;

/** For these, the parser checks the values themselves and not only their types, so a cached tree could be wrong. */
const CHECKS_VALUES = /between|attribute_type/i;
/** The handlers use fewer expressions than this. Another program may send a new one with each request. */
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

/** Builds a copy of a tree for each request: the tree contains the request's own values, and an update changes it. */
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
