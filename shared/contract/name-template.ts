export interface NameParts {
  readonly name: string;
  readonly id: string;
  readonly connection: string;
}

const PLACEHOLDER = /\{(name|id|connection)\}/g;

/** A template has braces only around placeholders, and contains `{name}` or `{id}`. */
export function isNameTemplate(template: string): boolean {
  return !/[{}]/.test(template.replaceAll(PLACEHOLDER, '')) && /\{(?:name|id)\}/.test(template);
}

/** Fills a template in one pass, so a group with the name `{id}` keeps that name. */
export function renderName(template: string, parts: NameParts): string {
  return template.replaceAll(PLACEHOLDER, (_, key: keyof NameParts) => parts[key]);
}
