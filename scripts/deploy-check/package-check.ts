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
import { LATER_VERSION, packVersions } from './tarballs.ts';

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
  const tarballs = await step('pack two versions of this commit', async () => packVersions(folder));
  const present = await step('install the tarball into an empty folder', async () =>
    install(on, tarballs.present),
  );
  const later = install(on, tarballs.later);
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
  await step('upgrade with the data, and events become groups', async () => {
    await deploy(later, LATER_VERSION);
    expectEqual(
      'tables and queues',
      await sync('package-2', laterEvents(new Date().toISOString()), LATER_GROUPS),
      before,
    );
  });
  await step('roll back with the data, and events become groups', async () => {
    await deploy(present, VERSION);
    expectEqual(
      'tables and queues',
      await sync('package-3', lastEvents(new Date().toISOString()), LAST_GROUPS),
      before,
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
