interface NameParts {
  readonly name: string;
  readonly id: string;
  readonly connection: string;
}

const PLACEHOLDER = /\{(name|id|connection)\}/g;

/** Whether the text is a template: it contains `{name}` or `{id}`, and all braces belong to placeholders. */
export function isNameTemplate(template: string): boolean {
  return !/[{}]/.test(template.replaceAll(PLACEHOLDER, '')) && /\{(?:name|id)\}/.test(template);
}

/** Fills a template in one pass. So a group's name that contains a placeholder, such as `{id}`, stays unchanged. */
export function renderName(template: string, parts: NameParts): string {
  return template.replaceAll(PLACEHOLDER, (_, key: keyof NameParts) => parts[key]);
}
