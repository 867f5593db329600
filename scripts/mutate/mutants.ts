import { parseSync } from 'oxc-parser';

/** One small change: the source from `start` to `end` becomes `text`. */
export interface Mutant {
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
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '&&': ['||'],
  '||': ['&&'],
};
const SAYING_NOTHING: ReadonlySet<string> = new Set(['return;', 'return undefined;']);
const METHODS = new Map(Object.entries({ some: 'every', every: 'some', max: 'min', min: 'max' }));

/** Every mutant of one file, types aside: operators, conditions, numbers, booleans, methods, returns and statements. */
export function mutantsOf(file: string, source: string): readonly Mutant[] {
  const { program } = parseSync(file, source);
  const mutants: Mutant[] = [];
  visit(program as unknown as Node, (node) => mutants.push(...mutantsAt(node, source)));
  return mutants;
}

/** The same code, with loops that end: a mutant that would turn for ever fails instead, and so is noticed. */
export function withLoopsEnding(file: string, source: string): string {
  const bodies: number[] = [];
  const { program } = parseSync(file, source);
  visit(program as unknown as Node, (node) => {
    const body = node['body'] as Node | undefined;
    if (LOOPS.has(node.type) && body?.type === 'BlockStatement') bodies.push(body.start + 1);
  });
  const check = ` if ((globalThis.turns = (globalThis.turns ?? 0) + 1) > ${MAX_TURNS}) throw new Error('endless');`;
  return bodies
    .sort((a, b) => b - a)
    .reduce((text, at) => text.slice(0, at) + check + text.slice(at), source);
}

const LOOPS: ReadonlySet<string> = new Set(['WhileStatement', 'DoWhileStatement', 'ForStatement']);
/** Far more than all the tests of one run take together. */
const MAX_TURNS = 20_000_000;

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
      return SAYING_NOTHING.has(textOf(node, source)) ? [] : [all('return undefined;')];
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
  if (typeof value === 'number') return [all(String(value + 1))];
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
