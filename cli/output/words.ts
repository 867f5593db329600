import { visible } from '../../shared/operate/names.ts';

export { duration } from '../../shared/domain/duration.ts';
export { plural, shellWord, shellWords, visible } from '../../shared/operate/names.ts';

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Makes control characters visible, except line breaks. */
export const visibleLines = (text: string): string => text.replace(/[^\n]+/g, visible);

export const jsonText = (document: unknown, indent = 0): string =>
  visibleLines(JSON.stringify(document, null, indent));

export const erasedLines = (erased: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(erased).map(
    ([sort, count]) => `  ${sort.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)}: ${count}`,
  );
