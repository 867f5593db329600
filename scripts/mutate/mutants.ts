import { parseSync } from 'oxc-parser';

/** One small change: the source from `start` to `end` becomes `text`. */
interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [name: string]: unknown;
}

const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
};
const RETURNS_NOTHING: ReadonlySet<string> = new Set(['return;', 'return undefined;']);
const METHODS = new Map(Object.entries({ some: 'every', every: 'some', max: 'min', min: 'max' }));

/**
 * Returns every mutant of one file: operators, conditions, numbers, booleans, methods, returns and statements.
 * Types are skipped.
 */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const { program } = parseSync(file, source);
  const mutants: Mutant[] = [];
  visit(program as unknown as Node, (node) => mutants.push(...mutantsAt(node, source)));
  return mutants;
}

/** Returns one line that identifies a mutant. The line stays the same if the code moves within its file. */
export function lineOf(file: string, source: string, { start, end, text }: Mutant): string {
  const lineStart = source.lastIndexOf('\n', start) + 1;
  const lineEnd = source.indexOf('\n', end);
  const line = source.slice(lineStart, lineEnd).trim().replace(/\s+/g, ' ');
  const was = source.slice(start, end).replace(/\s+/g, ' ');
  return `${file}: ${line.slice(0, 120)} | ${was.slice(0, 60)} → ${text.slice(0, 60)}`;
}

/** For each kind of node, its fields with code that does not always run, such as a branch of a condition. */
const PLACES: Readonly<Record<string, readonly [Kind, ...string[]]>> = {
  BlockStatement: ['statement', 'body'],
  SwitchCase: ['statement', 'consequent'],
  IfStatement: ['sole', 'consequent', 'alternate'],
  ForStatement: ['sole', 'body'],
  ForOfStatement: ['sole', 'body'],
  WhileStatement: ['sole', 'body'],
  ConditionalExpression: ['expression', 'consequent', 'alternate'],
  LogicalExpression: ['expression', 'right'],
  ArrowFunctionExpression: ['expression', 'body'],
};
type Kind = 'statement' | 'sole' | 'expression';
type Place = Pick<Node, 'start' | 'end'> & { readonly kind: Kind };

export function placesOf(file: string, source: string): readonly Place[] {
  const places: Place[] = [];
  visit(parseSync(file, source).program as unknown as Node, (node) => {
    const [kind = 'sole', ...keys] = PLACES[node.type] ?? [];
    const nodes = keys.flatMap((key) => (node[key] ?? []) as Node | Node[]);
    const bare = nodes.filter(({ type }) => type !== 'BlockStatement');
    places.push(...bare.map(({ start, end }) => ({ start, end, kind })));
  });
  return places;
}

/** Returns the same code with a call of `globalThis.reach` at every place. */
export function withPlaces(file: string, source: string): string {
  const inserts: { readonly at: number; readonly text: string }[] = [];
  for (const { start, end, kind } of placesOf(file, source)) {
    const call = `globalThis.reach('${file}:${start}')`;
    const [before, after] = { statement: [';', ''], sole: [';', '}'], expression: [',', ')'] }[kind];
    inserts.push({ at: start, text: { statement: '', sole: '{', expression: '(' }[kind] + call + before });
    inserts.push({ at: end, text: String(after) });
  }
  inserts.sort((a, b) => a.at - b.at);
  const pieces = inserts.map(({ at, text }, index) => source.slice(inserts[index - 1]?.at ?? 0, at) + text);
  return pieces.join('') + source.slice(inserts.at(-1)?.at ?? 0);
}

/**
 * Returns the innermost place that contains the mutant. A test must reach this place to detect the mutant. Returns
 * undefined if no place contains the mutant.
 */
export function placeOf(file: string, places: readonly Place[], { start, end }: Mutant): string | undefined {
  const around = places.filter((place) => place.start <= start && end <= place.end);
  const [innermost] = around.sort((a, b) => a.end - a.start - (b.end - b.start));
  return innermost && `${file}:${innermost.start}`;
}

function visit(node: Node, see: (node: Node) => void): void {
  if (node.type.startsWith('TS') || node.type === 'ImportDeclaration') return;
  see(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && 'type' in child) visit(child as Node, see);
    }
  }
}

function mutantsAt(node: Node, source: string): readonly Mutant[] {
  const { start, end } = node;
  const all = (text: string): Mutant => ({ start, end, text });
  const forced = (test: unknown): readonly Mutant[] => {
    const at = test as Node;
    return ['true', 'false'].map((text) => ({ start: at.start, end: at.end, text }));
  };
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
      return operatorMutants(node, source);
    case 'IfStatement':
    case 'ConditionalExpression':
      return forced(node['test']);
    case 'UnaryExpression':
      return node['operator'] === '!' ? [all(textOf(node['argument'] as Node, source))] : [];
    case 'Literal':
      return literalMutants(node['value'], all);
    case 'CallExpression':
      return callMutants(node, source);
    case 'ExpressionStatement':
      return [all(';')];
    case 'ReturnStatement':
      return RETURNS_NOTHING.has(textOf(node, source)) ? [] : [all('return undefined;')];
    default:
      return [];
  }
}

function operatorMutants(node: Node, source: string): readonly Mutant[] {
  const left = node['left'] as Node;
  const right = node['right'] as Node;
  const operator = String(node['operator']);
  const at = source.indexOf(operator, left.end);
  if (at < 0 || at >= right.start) return [];
  return (OPERATORS[operator] ?? []).map((text) => ({ start: at, end: at + operator.length, text }));
}

function literalMutants(value: unknown, all: (text: string) => Mutant): readonly Mutant[] {
  // A large number is doubled. Only a test that depends on a single millisecond could detect a change by 1.
  if (typeof value === 'number') return [all(String(value < 1_000 ? value + 1 : value * 2))];
  if (typeof value === 'boolean') return [all(String(!value))];
  return [];
}

function callMutants(node: Node, source: string): readonly Mutant[] {
  const callee = node['callee'] as Node;
  if (callee.type !== 'MemberExpression') return [];
  const property = callee['property'] as Node;
  const object = callee['object'] as Node;
  const name = textOf(property, source);
  const other = METHODS.get(name);
  if (other !== undefined) return [{ start: property.start, end: property.end, text: other }];
  const isRemovable = ['filter', 'sort', 'reverse', 'toReversed', 'slice'].includes(name);
  return isRemovable ? [{ start: object.end, end: node.end, text: '' }] : [];
}

const textOf = ({ start, end }: Node, source: string): string => source.slice(start, end);
