import { describe, expect, it } from 'vitest';
import { StageSettings } from '../../infra/settings.ts';
import { OUTPUT_SCHEMAS } from '../../scripts/output-schemas.ts';
import { RELEASES, type Release } from '../../shared/contract/releases.ts';
import { VERSION } from '../../shared/contract/version.ts';
import { compareReleases, compareVersions } from '../../shared/operate/upgrade.ts';
import type { DeployedStack } from '../../shared/sync/ports/deployment.ts';
import { runCli } from '../support/cli/io.ts';
import { sixInSync } from '../support/operate/world.ts';

const release = (version: string, oldestReader: string, more: Partial<Release> = {}): Release => ({
  version,
  oldestReader,
  storedForms: [],
  settingsAdded: [],
  settingsRemoved: [],
  ...more,
});

/** Version 2.0.0 changes a stored form, which older versions cannot read. */
const RELEASED = [
  release('1.0.0', '1.0.0'),
  release('1.10.0', '1.0.0', { settingsAdded: ['scimAllowedIps'] }),
  release('2.0.0', '2.0.0', { storedForms: ['A group stores its owner.'], settingsRemoved: ['scimBurst'] }),
];

describe('compareReleases', () => {
  it.each([
    ['the same version', { deployed: '2.0.0', oldestReader: '2.0.0' }, 'same', true, true],
    ['a change of a stored form', { deployed: '1.10.0', oldestReader: '1.0.0' }, 'upgrade', true, false],
    ['a newer, readable version', { deployed: '2.1.0', oldestReader: '2.0.0' }, 'downgrade', true, true],
    ['a newer, unreadable version', { deployed: '3.0.0', oldestReader: '3.0.0' }, 'downgrade', false, true],
    ['a stack without a version', { deployed: undefined, oldestReader: undefined }, 'unknown', null, null],
  ])(
    'compareReleases reports whether the installed version can read the data, and whether an upgrade can be undone: %s',
    (_, versions, direction, canReadData, canRollBack) => {
      expect(compareReleases(versions, RELEASED)).toMatchObject({ direction, canReadData, canRollBack });
    },
  );

  it('compareReleases lists stored forms and settings of all versions after the deployed version', () => {
    expect(compareReleases({ deployed: '1.0.0', oldestReader: '1.0.0' }, RELEASED)).toMatchObject({
      storedForms: ['A group stores its owner.'],
      settingsAdded: ['scimAllowedIps'],
      settingsRemoved: ['scimBurst'],
    });
  });

  it('an upgrade can be undone if no version after the deployed version changes a stored form', () => {
    const report = compareReleases({ deployed: '1.0.0', oldestReader: '1.0.0' }, RELEASED.slice(0, 2));
    expect(report).toMatchObject({ direction: 'upgrade', canRollBack: true });
  });

  it('compareVersions compares each part of a version as a number', () => {
    expect(['2.0.0', '1.10.0', '1.9.3', '1.10.1'].sort(compareVersions)).toEqual([
      '1.9.3',
      '1.10.0',
      '1.10.1',
      '2.0.0',
    ]);
  });
});

it('the list of releases ends with this version, and contains only settings that exist or were removed later', () => {
  expect(RELEASES.at(-1)?.version).toBe(VERSION);
  const settings = Object.keys(StageSettings.shape);
  const removed = RELEASES.flatMap(({ settingsRemoved }) => settingsRemoved);
  const added = RELEASES.flatMap(({ settingsAdded }) => settingsAdded);
  expect(added.filter((name) => !settings.includes(name) && !removed.includes(name))).toEqual([]);
  expect(removed.filter((name) => settings.includes(name))).toEqual([]);
});

describe('groupsync upgrade --check', () => {
  async function upgrade(outputs: DeployedStack['outputs'] | undefined, ...args: readonly string[]) {
    const { ports } = await sixInSync();
    const stack = outputs && { isProtected: true, outputs, resources: [] };
    const stacks = { read: async () => stack, unprotect: async () => {} };
    return runCli(['upgrade', ...args], { ports: { ...ports, deployment: { ...ports.deployment, stacks } } });
  }

  it('upgrade --check ends with exit code 0 if the installed version is deployed', async () => {
    const { code, stdout } = await upgrade({ Version: VERSION, OldestReader: VERSION }, '--check');
    expect([code, stdout]).toEqual([0, `deployed: ${VERSION}; installed: ${VERSION} (same)\n`]);
  });

  it('upgrade --check ends with exit code 3 if the installed version cannot read the deployed data', async () => {
    const outputs = { Version: '99.0.0', OldestReader: '99.0.0' };
    const { code, stdout } = await upgrade(outputs, '--check');
    expect(code).toBe(3);
    expect(stdout).toContain('cannot read the data of 99.0.0; do not deploy it');
    const { json } = await upgrade(outputs, '--check', '--json');
    expect(OUTPUT_SCHEMAS.upgrade.parse(json)).toMatchObject({ direction: 'downgrade', canReadData: false });
  });

  it('upgrade --check ends with exit code 3 if the stack does not state its version', async () => {
    expect(await upgrade({}, '--check')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('nothing can be compared'),
    });
  });

  it('upgrade ends with exit code 1 if there is no stack, and with exit code 2 without --check', async () => {
    expect(await upgrade(undefined, '--check')).toMatchObject({ code: 1 });
    expect(await upgrade({})).toMatchObject({ code: 2, stderr: expect.stringContaining('--check') });
  });
});
