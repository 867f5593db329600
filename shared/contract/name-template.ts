export interface NameParts {
  readonly name: string;
  readonly id: string;
  readonly connection: string;
}

const PLACEHOLDER = /\{(name|id|connection)\}/g;

/** Whether the text is a template: it has braces only around placeholders, and contains `{name}` or `{id}`. */
export function isNameTemplate(template: string): boolean {
  return !/[{}]/.test(template.replaceAll(PLACEHOLDER, '')) && /\{(?:name|id)\}/.test(template);
}

/**
 * Fills a template in one pass, so that a group's name that looks like a placeholder, such as `{id}`, stays as it is.
 */
export function renderName(template: string, parts: NameParts): string {
  return template.replaceAll(PLACEHOLDER, (_, key: keyof NameParts) => parts[key]);
}
