import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CdkPackages, fetchCdk } from '../../cli/deploy/fetch-cdk.ts';
import { temporaryFolder } from '../support/folder.ts';

const PACKAGES: CdkPackages = {
  packageJson: JSON.stringify({ dependencies: { 'aws-cdk': '2.1.0', 'aws-cdk-lib': '2.0.0' } }),
  lock: '{"lockfileVersion":3}',
};

/** Creates a folder with this script as `npm`, and returns what `fetchCdk` needs to use it. */
function machineWith(npm: string) {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
  const notes: string[] = [];
  const cache = join(folder, 'cache');
  const fetching = {
    env: { PATH: `${bin}:/usr/bin:/bin`, XDG_CACHE_HOME: cache },
    note: (text: string) => void notes.push(text),
    requireCredentials: async () => {},
  };
  return { fetching, notes, cached: () => readdirSync(join(cache, 'groupsync')) };
}

describe.skipIf(process.platform === 'win32')('fetching the CDK', () => {
  it('fetchCdk installs the locked versions once, runs no install scripts, and prints the folder', async () => {
    const npm = 'echo "$@" > arguments; mkdir node_modules';
    const { fetching, notes, cached } = machineWith(npm);
    const folder = await fetchCdk(PACKAGES, fetching);
    expect(notes).toEqual([
      'fetching the AWS CDK once: aws-cdk 2.1.0, aws-cdk-lib 2.0.0',
      `fetched into ${folder}`,
    ]);
    expect(readdirSync(folder).sort()).toEqual([
      'arguments',
      'node_modules',
      'package-lock.json',
      'package.json',
    ]);
    expect(readFileSync(join(folder, 'arguments'), 'utf8')).toContain('--ignore-scripts');
    expect(await fetchCdk(PACKAGES, fetching)).toBe(folder);
    expect(notes).toHaveLength(2);
    expect(await fetchCdk({ ...PACKAGES, lock: '{}' }, fetching)).not.toBe(folder);
    expect(cached()).toHaveLength(2);
  });

  it('fetchCdk fetches nothing without credentials', async () => {
    const { fetching, notes } = machineWith('exit 1');
    const requireCredentials = () => Promise.reject(new Error('no credentials'));
    await expect(fetchCdk(PACKAGES, { ...fetching, requireCredentials })).rejects.toThrow('no credentials');
    expect(notes).toEqual([]);
  });

  it('fetchCdk leaves no files if npm fails, and reports the error of npm', async () => {
    const { fetching, cached } = machineWith('echo "npm error code ENOTFOUND" >&2; exit 1');
    await expect(fetchCdk(PACKAGES, fetching)).rejects.toThrow(
      'the AWS CDK could not be fetched: npm error code ENOTFOUND',
    );
    expect(cached()).toEqual([]);
  });
});
