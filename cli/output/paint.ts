import { randomUUID } from 'node:crypto';
import { visible } from './words.ts';

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39] } as const;

export type Paint = Readonly<Record<keyof typeof CODES, (text: string) => string>>;

/**
 * Creates colours that external text cannot forge. Coloured text contains a random mark. First, all control characters
 * in the text are made visible. Only then, terminal codes replace the mark.
 */
export function createPaint(wanted: boolean) {
  const mark = `;${randomUUID()}-`;
  const marks = new RegExp(`${mark}(\\d+);`, 'g');
  const painter = ([on, off]: readonly [number, number]) =>
    wanted ? (text: string) => `${mark}${on};${text}${mark}${off};` : (text: string) => text;
  const { bold, dim, red, green } = CODES;
  const paint: Paint = { bold: painter(bold), dim: painter(dim), red: painter(red), green: painter(green) };
  return { paint, shown: (text: string): string => visible(text).replace(marks, '\u001b[$1m') };
}
