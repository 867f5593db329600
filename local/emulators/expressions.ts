import conditions from 'dynalite/db/conditionParser.js';
import updates from 'dynalite/db/updateParser.js';

/*
 * dynalite parses every expression again, with a parser that creates all its functions at each call. That took a fifth of
 * the local stack's processor time. The handlers send a few dozen expressions thousands of times with other values. So
 * this cache keeps a tree per expression, names and types of values, and fills in the values of each request.
 */

type Values = Readonly<Record<string, object>>;

export interface ExpressionParser {
  /** @returns a tree, or what is wrong as text */
  parse: (text: string, options: { readonly context: Context }) => unknown;
}

interface Context {
  readonly attrNames?: Readonly<Record<string, string>>;
  readonly attrVals?: Values;
  /** What dynalite refuses a request for; the parser takes out what the expression uses. */
  readonly unusedAttrNames: Record<string, unknown>;
  readonly unusedAttrVals: Record<string, unknown>;
}

type Template = (values: Values) => unknown;

/** Here the parser judges values, not only their types. */
const CHECKS_VALUES = /between|attribute_type/i;
/** More than the handlers have; another program may write its own for each request. */
const MOST_KEPT = 1000;

/** Parses as `parse` does, and calls it for what is new. */
function remembering(parse: ExpressionParser['parse']): ExpressionParser['parse'] {
  const kept = new Map<string, Template>();
  return (text, options) => {
    const { attrNames, attrVals = {}, unusedAttrNames, unusedAttrVals } = options.context;
    const types = Object.entries(attrVals).map(([name, value]) => [name, ...Object.keys(value)]);
    const key = JSON.stringify([text, attrNames, types]);
    const known = kept.get(key);
    if (known !== undefined) {
      for (const [name] of text.matchAll(/#\w+/g)) delete unusedAttrNames[name];
      for (const [name] of text.matchAll(/:\w+/g)) delete unusedAttrVals[name];
      return known(attrVals);
    }
    const parsed = parse(text, options);
    if (typeof parsed !== 'object' || CHECKS_VALUES.test(text)) return parsed;
    if (kept.size === MOST_KEPT) kept.clear();
    kept.set(
      key,
      templateOf(parsed, new Map(Object.entries(attrVals).map(([name, value]) => [value, name]))),
    );
    return parsed;
  };
}

/** A tree holds the request's very values, and is changed by the update that it describes: each request gets its own. */
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

for (const parser of [conditions, updates]) parser.parse = remembering(parser.parse);
