import type { AttributePath } from '../resource-type.ts';

export const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof COMPARISONS)[number];
export type Literal = string | number | boolean | null;

/** A filter as a tree (RFC 7644 section 3.4.2.2). Inside `element`, paths are relative to one value of the attribute. */
export type Filter =
  | { readonly kind: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'present'; readonly path: AttributePath }
  | {
      readonly kind: 'compare';
      readonly path: AttributePath;
      readonly operator: Comparison;
      readonly value: Literal;
    }
  | { readonly kind: 'element'; readonly path: AttributePath; readonly where: Filter };

/** The parts that must all hold. */
export const conjuncts = (filter: Filter): readonly Filter[] =>
  filter.kind === 'and' ? filter.of.flatMap(conjuncts) : [filter];
