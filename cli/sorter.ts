import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import type { Sorter } from '../shared/operate/import/sorter.ts';
import type { Row } from '../shared/operate/import/rows.ts';
import { linesIn } from './lines.ts';

/** Rows held in memory: a few megabytes. */
const RUN = 20_000;

const StoredRow = z.tuple([z.number(), z.string(), z.string(), z.string(), z.string()]);

/**
 * Sorts rows by group, member and line, however many: each full run is sorted and put into a file of its own, readable
 * by its owner only (they hold names and addresses), and the runs are merged as they are read.
 */
export function createSorter(runLength = RUN): Sorter {
  let rows: Row[] = [];
  let folder: string | undefined;
  const files: string[] = [];

  const spill = async () => {
    folder ??= await mkdtemp(join(tmpdir(), 'groupsync-import-'));
    const file = join(folder, `run-${files.length}`);
    const lines = rows
      .sort(byGroupAndMember)
      .map(({ line, group, name, member, email }) => JSON.stringify([line, group, name, member, email]));
    await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    files.push(file);
    rows = [];
  };

  return {
    async add(row) {
      rows.push(row);
      if (rows.length === runLength) await spill();
    },
    async *sorted() {
      yield* merge([...files.map(readRun), inMemory(rows.sort(byGroupAndMember))]);
    },
    async discard() {
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      folder = undefined;
    },
  };
}

async function* inMemory(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* rows;
}

async function* readRun(file: string): AsyncGenerator<Row> {
  for await (const text of linesIn(createReadStream(file, 'utf8'))) {
    const [line, group, name, member, email] = StoredRow.parse(JSON.parse(text));
    yield { line, group, name, member, email };
  }
}

async function* merge(runs: readonly AsyncGenerator<Row>[]): AsyncGenerator<Row> {
  const heads = new Map<AsyncGenerator<Row>, Row>();
  const advance = async (run: AsyncGenerator<Row>) => {
    const { value, done } = await run.next();
    if (done === true) heads.delete(run);
    else heads.set(run, value);
  };
  for (const run of runs) await advance(run);
  while (heads.size > 0) {
    const [first] = [...heads].reduce((least, next) =>
      byGroupAndMember(next[1], least[1]) < 0 ? next : least,
    );
    yield heads.get(first) as Row;
    await advance(first);
  }
}

function byGroupAndMember(a: Row, b: Row): number {
  if (a.group !== b.group) return a.group < b.group ? -1 : 1;
  if (a.member !== b.member) return a.member < b.member ? -1 : 1;
  return a.line - b.line;
}
