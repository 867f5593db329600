export { shellWord } from '../../shared/operate/names.ts';

/** Durations as people say them: 42 s, 12 min, 3 h, 5 d. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Characters of names from outside that would move the cursor, or make text be read in another order than it has. */
export const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, escaped);

/** The same in text that is ready to be shown: its lines, and the colours that we give it, stay. */
export const visibleText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  text.replace(/\n|\u001b\[(?:[12]|22|3[1-69])m|[^\n\u001b]+|\u001b/g, (part) =>
    part === '\n' || part.startsWith('\u001b[') ? part : visible(part),
  );

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
export const erasedLines = (erased: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(erased).map(
    ([sort, count]) => `  ${count} ${sort.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`,
  );
