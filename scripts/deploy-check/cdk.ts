import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CDK = join(ROOT, 'node_modules/aws-cdk/bin/cdk');
/** The command that runs the app of the checkout, for folders without a `cdk.json`. */
const APP = `node --import ${import.meta.resolve('tsx')} ${join(ROOT, 'infra/app.ts')}`;

export type Environment = Readonly<Record<string, string>>;

/** Runs the CDK CLI, and prints its output only if it fails. */
async function cdk(args: readonly string[], options: { env: Environment; cwd?: string }): Promise<string> {
  const child = spawn(process.execPath, [CDK, ...args], {
    cwd: options.cwd ?? ROOT,
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`cdk ${args.join(' ')} ended with ${code}:\n${output}`);
  return output;
}

/** One stage of the stack. It is synthesised once into the folder `out` and deployed from this folder. */
export interface StageOfStack {
  readonly prefix: string;
  readonly out: string;
  readonly context: Readonly<Record<string, string>>;
  /** Settings that are possible only in the file `groupsync.json`. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export interface Cdk {
  bootstrap(account: string, region: string, qualifier?: string): Promise<void>;
  synth(stage: StageOfStack): Promise<void>;
  deploy(stage: StageOfStack): Promise<void>;
  /** @throws if the deployed template differs from the synthesised one */
  expectNoDifference(stage: StageOfStack): Promise<void>;
  destroy(stage: StageOfStack): Promise<void>;
}

export function createCdk(env: Environment): Cdk {
  return {
    async bootstrap(account, region, qualifier) {
      // The command runs in an empty folder, because in the project's folder it would first synthesise the app.
      const cwd = mkdtempSync(join(tmpdir(), 'groupsync-bootstrap-'));
      try {
        const flags =
          qualifier === undefined
            ? []
            : ['--qualifier', qualifier, '--toolkit-stack-name', `CDKToolkit-${qualifier}`];
        await cdk(['bootstrap', `aws://${account}/${region}`, ...flags], { env, cwd });
      } finally {
        rmSync(cwd, { recursive: true, force: true });
      }
    },
    async synth({ prefix, out, context, settings }) {
      const given = Object.entries({ ...context, prefix }).flatMap(([name, value]) => [
        '-c',
        `${name}=${value}`,
      ]);
      const args = ['synth', '--quiet', '--output', out, ...given];
      if (settings === undefined) return void (await cdk(args, { env }));
      const cwd = mkdtempSync(join(tmpdir(), 'groupsync-settings-'));
      writeFileSync(join(cwd, 'groupsync.json'), JSON.stringify(settings));
      try {
        await cdk([...args, '--app', APP, '--no-notices'], { env, cwd });
      } finally {
        rmSync(cwd, { recursive: true });
      }
    },
    async deploy({ out }) {
      const args = ['--all', '--require-approval', 'never', '--outputs-file', join(out, 'outputs.json')];
      await cdk(['deploy', '--app', out, ...args], { env });
    },
    async expectNoDifference({ out }) {
      await cdk(['diff', '--app', out, '--all', '--method', 'template', '--fail'], { env });
    },
    async destroy({ out }) {
      await cdk(['destroy', '--app', out, '--all', '--force'], { env });
    },
  };
}
