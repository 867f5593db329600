import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** One import: `import`, `export … from`, `import()`, or a type `import('…')`. */
export interface Import {
  /**
   * The imported path from the root of the project, or the name of a package or `node:` module; undefined if the code
   * computes it.
   */
  readonly target: string | undefined;
  readonly relative: boolean;
  readonly typeOnly: boolean;
  readonly line: number;
}

/**
 * The use of a global, of a member of a global, or of a name from a `node:` module: `process.env`, `new Date()`,
 * `crypto.randomUUID`.
 */
interface Use {
  readonly name: string;
  readonly line: number;
}

export interface SourceFile {
  readonly path: string;
  readonly imports: readonly Import[];
  readonly uses: readonly Use[];
  /** True if the file contains only exports from other files. */
  readonly barrel: boolean;
}

type Node = { readonly type: string; readonly start: number; readonly [field: string]: unknown };

/**
 * Reads the facts of one TypeScript source that the rules need.
 * @param path from the root of the project, with forward slashes
 * @throws if the source cannot be parsed, because the rules cannot check it
 */
export function readSource(path: string, text: string): SourceFile {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  const imports: Import[] = [];
  const uses: Use[] = [];
  walk(program as unknown as Node, (node, parent) => {
    const found = importOf(node);
    if (found !== undefined) imports.push({ ...resolve(path, found), line: lineOf(node.start) });
    for (const name of usesOf(node, parent)) uses.push({ name, line: lineOf(node.start) });
  });
  return { path, imports, uses, barrel: isBarrel(program.body as unknown as readonly Node[]) };
}

function walk(node: Node, visit: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  visit(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit, node);
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';

interface Found {
  readonly specifier: string | undefined;
  readonly typeOnly: boolean;
}

function importOf(node: Node): Found | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
      return {
        specifier: literal(node['source']),
        typeOnly: node['importKind'] === 'type' || allTypes(node['specifiers'], 'importKind'),
      };
    case 'ExportAllDeclaration':
      return { specifier: literal(node['source']), typeOnly: node['exportKind'] === 'type' };
    case 'ExportNamedDeclaration':
      if (!isNode(node['source'])) return undefined;
      return {
        specifier: literal(node['source']),
        typeOnly: node['exportKind'] === 'type' || allTypes(node['specifiers'], 'exportKind'),
      };
    case 'ImportExpression':
      return { specifier: literal(node['source']), typeOnly: false };
    case 'TSImportType':
      return { specifier: literal(node['source'] ?? node['argument']), typeOnly: true };
    case 'CallExpression':
      if (nameOf(node['callee']) !== 'require') return undefined;
      return { specifier: literal((node['arguments'] as unknown[])[0]), typeOnly: false };
    default:
      return undefined;
  }
}

/** TypeScript removes `import { type A }`. The forms `import {} from` and `import 'x'` run the module. */
const allTypes = (specifiers: unknown, kind: string) =>
  Array.isArray(specifiers) && specifiers.length > 0 && specifiers.every((one) => one[kind] === 'type');

function literal(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'TSLiteralType') return literal(node['literal']);
  return typeof node['value'] === 'string' ? node['value'] : undefined;
}

function resolve(path: string, { specifier, typeOnly }: Found): Omit<Import, 'line'> {
  const relative = specifier?.startsWith('.') ?? false;
  const target = relative ? posix.join(posix.dirname(path), specifier as string) : specifier;
  return { target, relative, typeOnly };
}

/** Returns the names that this node uses. The name of a member is `object.member`, without `globalThis.`. */
function usesOf(node: Node, parent: Node | undefined): string[] {
  if (node.type === 'MemberExpression' || (node.type === 'Identifier' && isRead(node, parent))) {
    const name = nameOf(node);
    return name === undefined ? [] : [name];
  }
  if (node.type === 'NewExpression' && (node['arguments'] as unknown[]).length === 0) {
    const name = nameOf(node['callee']);
    return name === undefined ? [] : [`new ${name}()`];
  }
  if (node.type === 'CallExpression' && nameOf(node['callee']) === 'Date') return ['Date()'];
  if (node.type === 'VariableDeclarator') return destructured(node);
  if (node.type === 'ImportDeclaration' && node['importKind'] !== 'type') return importedFromNode(node);
  return [];
}

/**
 * Returns true if the code reads the value of the name. A property key, the name of a member, a type and a declaration
 * are not reads.
 */
function isRead(node: Node, parent: Node | undefined): boolean {
  if (parent === undefined) return true;
  if (parent.type === 'MemberExpression') return parent['object'] === node || parent['computed'] === true;
  if (parent['key'] === node) return parent['computed'] === true || parent['shorthand'] === true;
  return !/^(TS|Import|Export)/.test(parent.type) || parent.type === 'TSAsExpression';
}

function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'ChainExpression' || node.type === 'TSNonNullExpression')
    return nameOf(node['expression']);
  if (node.type === 'Identifier') return node['name'] as string;
  if (node.type !== 'MemberExpression') return undefined;
  const object = nameOf(node['object']);
  const member = node['computed'] === true ? literal(node['property']) : nameOf(node['property']);
  if (object === undefined || member === undefined) return undefined;
  return object === 'globalThis' ? member : `${object}.${member}`;
}

/** `const { env } = process` uses `process.env`. */
function destructured(node: Node): string[] {
  const pattern = node['id'];
  const source = nameOf(node['init']);
  if (!isNode(pattern) || pattern.type !== 'ObjectPattern' || source === undefined) return [];
  const prefix = source === 'globalThis' ? '' : `${source}.`;
  return (pattern['properties'] as Node[]).flatMap((one) => {
    const key = nameOf(one['key']);
    return key === undefined ? [] : [`${prefix}${key}`];
  });
}

/**
 * `import { randomUUID as id } from 'node:crypto'` uses `crypto.randomUUID`; `node:timers/promises` counts as `timers`.
 */
function importedFromNode(node: Node): string[] {
  const module = /^(?:node:)?(process|crypto|timers|perf_hooks)\b/.exec(literal(node['source']) ?? '')?.[1];
  if (module === undefined) return [];
  return (node['specifiers'] as Node[])
    .filter((one) => one.type === 'ImportSpecifier' && one['importKind'] !== 'type')
    .map((one) => `${module}.${nameOf(one['imported'])}`);
}

function isBarrel(body: readonly Node[]): boolean {
  const own = body.filter((node) => node.type !== 'ImportDeclaration');
  return own.length > 0 && own.every(exportsOnly);
}

const exportsOnly = (node: Node) =>
  node.type === 'ExportAllDeclaration' ||
  (node.type === 'ExportNamedDeclaration' && !isNode(node['declaration']));
