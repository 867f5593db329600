import type { AttributePath } from './resource-type.ts';

const NAME = /^[$a-z][\w$-]*$/i;

/**
 * Reads `[urn:…:]name[.sub]`. A URN may contain dots ("2.0"), so the last colon ends it and a dot counts after that.
 * @returns undefined for text that is no such path
 */
export function parseAttributePath(text: string): AttributePath | undefined {
  const colon = text.lastIndexOf(':');
  const schema = colon === -1 ? undefined : text.slice(0, colon).toLowerCase();
  if (schema !== undefined && !/^(?:urn|https?):./.test(schema)) return undefined;
  const [name = '', sub, ...more] = text.slice(colon + 1).split('.');
  if (!NAME.test(name) || more.length > 0 || (sub !== undefined && !NAME.test(sub))) return undefined;
  return { schema, name, sub };
}
