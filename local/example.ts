import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { shiftToNow } from './demo/shift.ts';
import { type EventLine, readEventFile } from './event-files.ts';

const EXAMPLES = new URL('../examples/', import.meta.url);
const TimedEvent = z.looseObject({ time: z.string() });

export const exampleWorldFile = (): string => fileURLToPath(new URL('company.world.json', EXAMPLES));

/** Returns the example company's events of half a year, shifted so that they end at `endMs`. */
export function exampleEvents(endMs: number): EventLine[] {
  const lines = readEventFile(fileURLToPath(new URL('company.events.jsonl', EXAMPLES)));
  const events = lines.map(({ text }) => TimedEvent.parse(JSON.parse(text)));
  const shifted = shiftToNow(events, endMs);
  return lines.map((line, index) => ({ ...line, text: JSON.stringify(shifted[index]) }));
}
