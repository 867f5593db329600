import type { Change, Condition, Value } from './table.ts';

const COMPARISON = { equal: '=', notEqual: '<>', less: '<', greater: '>' } as const;

/** Builds DynamoDB expressions; every name and value goes through a placeholder, so nothing needs quoting. */
export class Expression {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, Value>();

  /** The placeholders, in the form that a request takes; left out where there are none, as DynamoDB insists. */
  names() {
    return {
      ...(this.#names.size === 0 ? {} : { ExpressionAttributeNames: swapped(this.#names) }),
      ...(this.#values.size === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(this.#values) }),
    };
  }

  condition(condition: Condition): string {
    switch (condition.kind) {
      case 'exists':
        return `attribute_exists(${this.#name(condition.name)})`;
      case 'missing':
        return `attribute_not_exists(${this.#name(condition.name)})`;
      case 'all':
        return condition.of.map((part) => this.#conjunct(part)).join(' AND ');
      case 'any':
        return condition.of.map((part) => this.condition(part)).join(' OR ');
      default:
        return `${this.#name(condition.name)} ${COMPARISON[condition.kind]} ${this.#value(condition.value)}`;
    }
  }

  /**
   * AND binds tighter than OR, so only an `any` inside an `all` needs parentheses. Fewer are kinder to readers, and to
   * emulators, whose parsers take time exponential in their depth.
   */
  #conjunct(part: Condition): string {
    const text = this.condition(part);
    return part.kind === 'any' && part.of.length > 1 ? `(${text})` : text;
  }

  change({ set = {}, setIfMissing = {}, add = {}, remove = [] }: Change): string {
    const assignments = [
      ...Object.entries(set).map(([name, value]) => `${this.#name(name)} = ${this.#value(value)}`),
      ...Object.entries(setIfMissing).map(([name, value]) => {
        const placeholder = this.#name(name);
        return `${placeholder} = if_not_exists(${placeholder}, ${this.#value(value)})`;
      }),
    ];
    const sums = Object.entries(add).map(([name, value]) => `${this.#name(name)} ${this.#value(value)}`);
    const removals = remove.map((name) => this.#name(name));
    return [section('SET', assignments), section('ADD', sums), section('REMOVE', removals)].join(' ').trim();
  }

  #name(path: string): string {
    return path
      .split('.')
      .map((part) => this.#part(part))
      .join('.');
  }

  #part(name: string): string {
    const placeholder = this.#names.get(name) ?? `#n${this.#names.size}`;
    this.#names.set(name, placeholder);
    return placeholder;
  }

  #value(value: Value): string {
    const placeholder = `:v${this.#values.size}`;
    this.#values.set(placeholder, value);
    return placeholder;
  }
}

const section = (verb: string, parts: readonly string[]) =>
  parts.length === 0 ? '' : `${verb} ${parts.join(', ')}`;

const swapped = (names: ReadonlyMap<string, string>) =>
  Object.fromEntries([...names].map(([name, placeholder]) => [placeholder, name]));
