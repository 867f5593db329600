import { visible } from '../../shared/operate/names.ts';

export { plural, shellWord, shellWords, visible } from '../../shared/operate/names.ts';

/** Formats a duration with one unit: 42 s, 12 min, 3 h, 5 d. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Makes control characters visible, except line breaks. */
export const visibleLines = (text: string): string => text.replace(/[^\n]+/g, visible);

export const jsonText = (document: unknown, indent = 0): string =>
  visibleLines(JSON.stringify(document, null, indent));

export const erasedLines = (erased: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(erased).map(
    ([sort, count]) => `  ${sort.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`)}: ${count}`,
  );
