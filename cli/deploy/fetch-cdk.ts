import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HintedError, type Io } from '../io.ts';
import { runProgram } from './run-program.ts';

/** The npm files that install the CDK. `scripts/pack.ts` puts them into the package. */
export interface CdkPackages {
  readonly packageJson: string;
  readonly lock: string;
}

interface Fetching {
  readonly env: Io['env'];
  readonly note: (text: string) => void;
  /** Rejects if there are no AWS credentials. Then nothing is fetched. */
  readonly requireCredentials: () => Promise<unknown>;
}

/**
 * Returns the folder that contains `node_modules` with the CDK. Installs the locked versions there at the first call.
 * No install script runs.
 */
export async function fetchCdk(packages: CdkPackages, fetching: Fetching): Promise<string> {
  const { env, note, requireCredentials } = fetching;
  const cache = cacheFolder(env);
  const key = createHash('sha256').update(packages.lock).digest('hex').slice(0, 12);
  const folder = join(cache, `cdk-${key}`);
  if (existsSync(folder)) return folder;
  await requireCredentials();
  note(`fetching the AWS CDK once: ${versionsOf(packages)}`);
  mkdirSync(cache, { recursive: true });
  // Two commands may fetch at the same time. The command that finishes first renames its folder.
  const unfinished = mkdtempSync(join(cache, 'unfinished-'));
  try {
    writeFileSync(join(unfinished, 'package.json'), packages.packageJson);
    writeFileSync(join(unfinished, 'package-lock.json'), packages.lock);
    await install(unfinished, env);
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  note(`fetched into ${folder}`);
  return folder;
}

const cacheFolder = (env: Io['env']): string =>
  join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'groupsync');

const versionsOf = ({ packageJson }: CdkPackages): string => {
  const { dependencies } = JSON.parse(packageJson) as { dependencies: Record<string, string> };
  return Object.entries(dependencies)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ');
};

const WITHOUT_EXTRAS = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];

async function install(cwd: string, env: Io['env']): Promise<void> {
  const npm = { command: 'npm', args: ['ci', ...WITHOUT_EXTRAS], cwd, env };
  const { code, lines } = await runProgram(npm).catch((error: Error) => ({
    code: 1,
    lines: [error.message],
  }));
  if (code === 0) return;
  const reason =
    lines.find((line) => /^npm (?:error|ERR!) /.test(line)) ?? lines.at(-1) ?? `exit code ${code}`;
  throw new HintedError(
    `the AWS CDK could not be fetched: ${reason}`,
    'check the network and the npm registry (npm ping), then repeat the command',
  );
}

/** Returns undefined in a checkout, because its `node_modules` contains the CDK. */
export function packagedCdk(folder: URL): CdkPackages | undefined {
  const read = (name: string) => readFileSync(new URL(name, folder), 'utf8');
  if (!existsSync(folder)) return undefined;
  return { packageJson: read('package.json'), lock: read('package-lock.json') };
}
