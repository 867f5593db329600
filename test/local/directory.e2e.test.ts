import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { parseOptions, type StartOptions } from '../../local/options.ts';
import { runLocal } from '../../local/run.ts';
import { temporaryFolder } from '../support/folder.ts';
import { companyOf, memberOf } from './support/numbered-company.ts';

vi.spyOn(process.stderr, 'write').mockImplementation(() => true);

/** The limit is far above the usual duration, because the machine can be busy. */
const TIMEOUT_MS = 300_000;

const snapshot = (id: string, members: readonly object[]) =>
  JSON.stringify({
    specversion: '1.0',
    id: `event-${id}`,
    source: 'test',
    type: 'directory.group.snapshot',
    time: new Date(Date.now() - 60_000).toISOString(),
    data: { group: { id, name: `Group ${id}` }, members },
  });

// A process can run only one stack, because the functions keep the clients of the first stack.
it(
  'npm start reads a Google directory through its API, writes its groups to the platform, and ends',
  async () => {
    const folder = temporaryFolder();
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const world = companyOf(3);
    const members = [0, 1, 2].map(memberOf);
    const events = [snapshot('all', members), snapshot('some', members.slice(0, 2)), snapshot('none', [])];
    const args = [
      ...['--once', '--json', '--directory', 'google', '--local-file', join(folder, 'local.json')],
      ...['--world', file('world.json', JSON.stringify(world))],
      ...['--events', file('events.jsonl', events.join('\n'))],
    ];
    const printed: string[] = [];
    const exit = await runLocal(parseOptions(args) as StartOptions, {
      loadParts: async () => (await import('../../local/load-parts.ts')).loadParts(),
      signal: new AbortController().signal,
      takeOutput: () => ({ print: (text) => void printed.push(text) }),
    });
    const { groups } = JSON.parse(printed.join('')) as {
      readonly groups: readonly {
        readonly name: string;
        readonly state: string;
        readonly users: readonly string[];
      }[];
    };
    expect(exit).toBe(0);
    expect(groups.map(({ name, state, users }) => [name, state, users.length]).sort()).toEqual([
      ['Group all', 'in_sync', 3],
      ['Group none', 'in_sync', 0],
      ['Group some', 'in_sync', 2],
    ]);
  },
  TIMEOUT_MS,
);
