import { expect, it } from 'vitest';
import { readEventFile } from '../../local/event-files.ts';
import { exampleEvents } from '../../local/example.ts';
import { temporaryFile } from '../support/folder.ts';

it('event files are read line by line, without blank lines, byte order mark and carriage returns', () => {
  const text = '\uFEFF{"a":1}\r\n\r\n  \n{"b":"line\u2028separator"}\nnot json';
  const file = temporaryFile('events.jsonl', text);
  expect(readEventFile(file)).toEqual([
    { file, line: 1, text: '{"a":1}' },
    { file, line: 4, text: '{"b":"line\u2028separator"}' },
    { file, line: 5, text: 'not json' },
  ]);
});

it('the times of the example are shifted so that its newest event is at the given time', () => {
  const endMs = Date.parse('2031-01-02T03:04:05.678Z');
  const times = exampleEvents(endMs).map(({ text }) => Date.parse(JSON.parse(text).time));
  expect(times.length).toBeGreaterThan(1000);
  expect(Math.max(...times)).toBe(endMs);
  expect(Math.min(...times)).toBeGreaterThan(endMs - 366 * 86_400_000);
});
