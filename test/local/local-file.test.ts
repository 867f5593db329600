import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LocalFile, removeLocalFile, writeLocalFile } from '../../local/local-file.ts';
import { temporaryFolder } from '../support/folder.ts';

const ADDRESS = LocalFile.parse({
  ...Object.fromEntries(Object.keys(LocalFile.shape).map((name) => [name, `http://127.0.0.1/${name}`])),
  pid: 4711,
});

it('writeLocalFile creates the folders, makes the file readable only for its owner, and leaves no temporary file', () => {
  const path = join(temporaryFolder(), 'a', 'b');
  writeLocalFile(join(path, 'local.json'), ADDRESS);
  expect(JSON.parse(readFileSync(join(path, 'local.json'), 'utf8'))).toEqual(ADDRESS);
  expect(statSync(join(path, 'local.json')).mode & 0o777).toBe(0o600);
  expect(readdirSync(path)).toEqual(['local.json']);
});

it('removeLocalFile removes the file of its own process, but not the file of another process', () => {
  const path = join(temporaryFolder(), 'local.json');
  writeLocalFile(path, ADDRESS);
  removeLocalFile(path, 1);
  expect(statSync(path).isFile()).toBe(true);
  removeLocalFile(path, 4711);
  expect(() => statSync(path)).toThrow();
  expect(() => removeLocalFile(path, 4711)).not.toThrow();
});
