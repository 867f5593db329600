import type { Change, Condition, Scalar, Value } from '../../shared/store/table.ts';

export interface Placeholders {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Value>>;
}

const TOKEN =
  /\s*(?:(\(|\)|AND\b|OR\b)|(attribute_exists|attribute_not_exists)\((#[\w.#]+)\)|(#[\w.#]+) (=|<>|<|>) (:\w+))/y;
const KINDS = { '=': 'equal', '<': 'less', '>': 'greater' } as const;

/** Parses a condition expression: comparisons, existence, AND, OR and parentheses, as written by shared/store. */
export function parseCondition(text: string, { names, values }: Placeholders): Condition {
  const tokens: (string | Condition)[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const found = TOKEN.exec(text);
    if (found === null)
      throw new Error(`the simulated table does not support this condition: ${text.slice(at)}`);
    const [, mark, existence, tested = '', left = '', operator, right = ''] = found;
    if (mark !== undefined) tokens.push(mark);
    else if (existence !== undefined) {
      const kind = existence === 'attribute_exists' ? 'exists' : 'missing';
      tokens.push({ kind, name: nameOf(names, tested) });
    } else {
      const kind = KINDS[operator as keyof typeof KINDS];
      tokens.push({ kind, name: nameOf(names, left), value: values[right] as Scalar });
    }
  }
  return disjunction(tokens);
}

function disjunction(tokens: (string | Condition)[]): Condition {
  const of = [conjunction(tokens)];
  while (tokens[0] === 'OR') {
    tokens.shift();
    of.push(conjunction(tokens));
  }
  return of.length === 1 ? (of[0] as Condition) : { kind: 'any', of };
}

function conjunction(tokens: (string | Condition)[]): Condition {
  const of = [operand(tokens)];
  while (tokens[0] === 'AND') {
    tokens.shift();
    of.push(operand(tokens));
  }
  return of.length === 1 ? (of[0] as Condition) : { kind: 'all', of };
}

function operand(tokens: (string | Condition)[]): Condition {
  const next = tokens.shift();
  if (typeof next === 'object') return next;
  if (next !== '(') throw new Error(`expected a condition, got ${next}`);
  const inner = disjunction(tokens);
  tokens.shift();
  return inner;
}

const ASSIGNMENT = /^(#\w+) = (?:(:\w+)|if_not_exists\(\1, (:\w+)\))$/;

export function parseChange(text: string, { names, values }: Placeholders): Change {
  const change = {
    set: {} as Record<string, Value>,
    setIfMissing: {} as Record<string, Value>,
    add: {} as Record<string, number>,
    remove: [] as string[],
  };
  for (const section of text.split(/\s*\b(?=(?:SET|ADD|REMOVE) )/)) {
    const verb = section.slice(0, section.indexOf(' '));
    for (const part of section.slice(verb.length + 1).split(/, (?=#)/)) {
      if (verb === 'REMOVE') change.remove.push(nameOf(names, part));
      else if (verb === 'ADD') {
        const [name = '', value = ''] = part.split(' ');
        change.add[nameOf(names, name)] = Number(values[value]);
      } else {
        const found = ASSIGNMENT.exec(part);
        if (found === null) throw new Error(`the simulated table does not support this assignment: ${part}`);
        const [, name = '', value, fallback = ''] = found;
        if (value !== undefined) change.set[nameOf(names, name)] = values[value] as Value;
        else change.setIfMissing[nameOf(names, name)] = values[fallback] as Value;
      }
    }
  }
  return change;
}

/** Returns the attribute path with each placeholder replaced by its name. */
const nameOf = (names: Placeholders['names'], path: string): string =>
  path
    .trim()
    .split('.')
    .map((placeholder) => {
      const name = names[placeholder];
      if (name === undefined) throw new Error(`expected a name for ${placeholder}`);
      return name;
    })
    .join('.');
