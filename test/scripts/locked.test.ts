import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import packageLock from '../../package-lock.json' with { type: 'json' };
import { lockedPackages } from '../../scripts/locked.ts';

const PROJECT = {
  packages: {
    '': { dependencies: { a: '1' } },
    'node_modules/a': {
      version: '1.0.0',
      integrity: 'sha512-a',
      dev: true,
      dependencies: { b: '^2', c: '^1' },
    },
    'node_modules/a/node_modules/b': { version: '2.0.0', integrity: 'sha512-b2', dev: true },
    'node_modules/a/node_modules/d': { version: '4.0.0', inBundle: true, dev: true },
    'node_modules/b': { version: '1.0.0', integrity: 'sha512-b1' },
    'node_modules/c': { version: '1.0.0', integrity: 'sha512-c', dependencies: { b: '^1' } },
    'node_modules/e': { version: '5.0.0', integrity: 'sha512-e' },
  },
};

it('the lock file contains the given packages, their dependencies, and the checksums of the project', () => {
  const { packageJson: made, lock } = lockedPackages('some', ['a'], PROJECT);
  expect(made).toMatchObject({ name: 'some', dependencies: { a: '1.0.0' } });
  expect(lock).toMatchObject({ lockfileVersion: 3 });
  expect((lock as typeof PROJECT).packages).toEqual({
    '': made,
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a', dependencies: { b: '^2', c: '^1' } },
    'node_modules/a/node_modules/b': { version: '2.0.0', integrity: 'sha512-b2' },
    'node_modules/a/node_modules/d': { version: '4.0.0', inBundle: true },
    'node_modules/b': { version: '1.0.0', integrity: 'sha512-b1' },
    'node_modules/c': { version: '1.0.0', integrity: 'sha512-c', dependencies: { b: '^1' } },
  });
});

it('a package that the project does not have cannot be locked', () => {
  expect(() => lockedPackages('some', ['x'], PROJECT)).toThrow('expected x in package-lock.json, found none');
});

it('the lock file of the CDK has the tested versions, and no package with an install script', () => {
  const names = ['aws-cdk', 'aws-cdk-lib', 'constructs'] as const;
  const { packageJson: made, lock } = lockedPackages('cdk', names, packageLock);
  const tested = Object.fromEntries(names.map((name) => [name, packageJson.devDependencies[name]]));
  expect(made).toMatchObject({ dependencies: tested });
  const entries = Object.entries((lock as { packages: Record<string, Record<string, unknown>> }).packages);
  for (const [path, entry] of entries) {
    expect(entry, path).not.toHaveProperty('hasInstallScript');
    if (path !== '' && entry['inBundle'] !== true) expect(entry, path).toHaveProperty('integrity');
  }
});
