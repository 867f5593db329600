import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../shared/contract/version.ts';
import { identityOf } from './deployment.ts';
import { downloadStage, outputsOf } from './downloaded-stage.ts';
import type { Emulator } from './emulator.ts';
import {
  FIRST_GROUPS,
  firstEvents,
  LAST_GROUPS,
  LATER_GROUPS,
  lastEvents,
  laterEvents,
  send,
  untilGroups,
} from './scenario.ts';
import {
  type CheckInput,
  connect,
  expectContains,
  expectEqual,
  step,
  TIMEOUT_MS,
  whileRunning,
} from './steps.ts';
import { CHANGED_FORM, COMPATIBLE_VERSION, INCOMPATIBLE_VERSION, packVersions } from './tarballs.ts';

interface PackageCheck extends CheckInput {
  readonly emulator: Emulator;
  readonly prefix: string;
  /** The bucket of the CDK, from which the functions are deployed. */
  readonly assets: string;
}

/**
 * Tests the package in the steps of a user. The tarball is installed into an empty folder, deployed, upgraded with its
 * data, and rolled back. After each deployment, the deployed functions process new events.
 */
export async function checkPackage(on: PackageCheck): Promise<void> {
  const { prefix, folder, clients, emulator } = on;
  const tarballs = await step('pack three versions of this commit', async () => packVersions(folder));
  const present = await step('install the tarball into an empty folder', async () =>
    install(on, tarballs.present),
  );
  const compatible = install(on, tarballs.compatible);
  const incompatible = install(on, tarballs.incompatible);
  const deployed = (name: string) =>
    downloadStage({ prefix, bucket: on.assets, out: join(folder, name) }, { clients, emulator });
  const sync = async (name: string, events: readonly string[], expected: unknown) => {
    const stage = await deployed(name);
    await whileRunning(on, stage, async (running) => {
      await running.functions.people.invoke({});
      await send(clients, stage, events);
      await untilGroups(running, on.platform, { expected, timeoutMs: TIMEOUT_MS });
    });
    return identityOf(clients, stage);
  };
  const deploy = async (installed: Installed, version: string) => {
    expectContains(await installed.run(0, 'deploy', '--yes'), 'warning: no alarm is delivered');
    expectEqual('the deployed version', (await outputsOf(prefix, emulator))['Version'], version);
  };

  await step(`deploy ${prefix} from the package`, () => deploy(present, VERSION));
  const before = await step('events become groups', async () => {
    await connect(on, await deployed('package-connect'));
    return sync('package-1', firstEvents(new Date().toISOString()).slice(0, -1), FIRST_GROUPS);
  });
  await step('upgrade --check reports whether a version can be rolled back', async () => {
    const can = await compatible.run(0, 'upgrade', '--check');
    expectContains(can, `rolling back to ${VERSION} is possible`);
    const cannot = await incompatible.run(3, 'upgrade', '--check');
    expectContains(cannot, `stored data changes: ${CHANGED_FORM}`);
    expectContains(cannot, `${VERSION} CANNOT read the data`);
  });
  await step('upgrade with the data, and events become groups', async () => {
    await deploy(compatible, COMPATIBLE_VERSION);
    expectEqual(
      'tables and queues',
      await sync('package-2', laterEvents(new Date().toISOString()), LATER_GROUPS),
      before,
    );
  });
  await step('roll back with the data, and events become groups', async () => {
    expectContains(await present.run(0, 'upgrade', '--check'), '(downgrade)');
    await deploy(present, VERSION);
    expectEqual(
      'tables and queues',
      await sync('package-3', lastEvents(new Date().toISOString()), LAST_GROUPS),
      before,
    );
  });
  await step('upgrade --check refuses a version that cannot read the deployed data', async () => {
    await deploy(incompatible, INCOMPATIBLE_VERSION);
    expectContains(
      await present.run(3, 'upgrade', '--check'),
      `cannot read the data of ${INCOMPATIBLE_VERSION}`,
    );
  });
  await step(`destroy ${prefix}`, () => present.run(0, 'destroy', '--yes'));
}

interface Installed {
  /** Runs the command in the folder. @returns its output @throws if it ends with another exit code */
  run(code: number, ...args: readonly string[]): Promise<string>;
}

function install({ folder, prefix, env }: PackageCheck, tarball: string): Installed {
  const cwd = tarball.replace(/\.tgz$/, '');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'groupsync.json'), JSON.stringify({ prefix }));
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  execFileSync('npm', ['install', ...quiet, tarball], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  // `upgrade` does not read the settings file, so this variable selects the stage.
  const ofStage = { ...env, GROUPSYNC_PREFIX: prefix, TMPDIR: folder };
  return {
    async run(code, ...args) {
      const child = spawn('npx', ['--no-install', 'groupsync', ...args], {
        cwd,
        env: ofStage,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
      const ended = await new Promise<number | null>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      if (ended !== code)
        throw new Error(`groupsync ${args.join(' ')}: expected exit code ${code}, got ${ended}:\n${output}`);
      return output;
    },
  };
}
