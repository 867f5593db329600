/** Returns the text without case and accents: “Núñez” and “nunez” are equal. */
const folded = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('Ø', 'o')
    .replaceAll('ł', 'l')
    .replaceAll('Ł', 'l')
    .toLowerCase();

/** Returns whether the texts contain each word of the search, without case and accents. */
export const matchesText = (texts: readonly (string | null | undefined)[], searched: string): boolean =>
  hasWords(searchable(texts), searched);

/** Returns the texts in the form that `hasWords` searches. A long list calls this function once for all searches. */
export const searchable = (texts: readonly (string | null | undefined)[]): string =>
  folded(texts.filter((text) => text != null).join('\n'));

export function hasWords(searchableText: string, searched: string): boolean {
  const words = folded(searched).split(/\s+/u);
  return words.every((word) => searchableText.includes(word));
}

export const SEARCH_KEYS = ['group', 'person', 'actor', 'action', 'outcome'] as const;
export type SearchKey = (typeof SEARCH_KEYS)[number];

/** A search such as `group:sales actor:"Ann Lee" ticket`: a text for each key, and other words. */
export interface Search extends Readonly<Partial<Record<SearchKey, string>>> {
  readonly words: string;
}

const PART = /(?:(\w+):)?(?:"([^"]*)"?|(\S+))/gu;

export function parseSearch(text: string): Search {
  const found: Partial<Record<SearchKey, string>> = {};
  const words: string[] = [];
  for (const [part, key = '', quoted, plain] of text.matchAll(PART)) {
    // A key without a value, such as `group:`, filters nothing.
    if (SEARCH_KEYS.some((one) => part === `${one}:`)) continue;
    const known = SEARCH_KEYS.find((one) => one === key.toLowerCase());
    const value = quoted ?? plain ?? '';
    if (known !== undefined) found[known] = value;
    else words.push(quoted ?? part);
  }
  return { ...found, words: words.join(' ') };
}
