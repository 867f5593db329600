import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { zipOf } from '../../scripts/zip.ts';
import { temporaryFolder } from '../support/folder.ts';

const CONTENT = Buffer.from('export const handler = () => 1;\n'.repeat(100));
const hasUnzip = spawnSync('unzip', ['-v']).status === 0;

it('a zip file contains the compressed file, and equal content gives equal bytes', () => {
  const zip = zipOf('index.mjs', CONTENT);
  const start = 30 + 'index.mjs'.length;
  expect(inflateRawSync(zip.subarray(start, start + zip.readUInt32LE(18)))).toEqual(CONTENT);
  expect(zip.equals(zipOf('index.mjs', CONTENT))).toBe(true);
  expect(zip.length).toBeLessThan(CONTENT.length / 5);
});

it.skipIf(!hasUnzip)('unzip accepts the zip file and shows that all users may read the file in it', () => {
  const path = join(temporaryFolder(), 'a.zip');
  writeFileSync(path, zipOf('index.mjs', CONTENT));
  expect(execFileSync('unzip', ['-p', path, 'index.mjs'])).toEqual(CONTENT);
  expect(execFileSync('unzip', ['-Z', path], { encoding: 'utf8' })).toContain('-rw-r--r--');
});
