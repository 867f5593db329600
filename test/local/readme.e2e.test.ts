import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { start } from './support/start.ts';

/*
 * The walk that the README invites to: every command of its sh blocks, as it stands there, one block after the other in
 * one shell, against one local stack in a folder of its own.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BLOCKS = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(
  ([, block = '']) => block,
);
/** The first block installs, and starts the stack that the others ask. */
const [SET_UP = '', ...WALK] = BLOCKS;

/**
 * `npx` and `npm` are those of a checkout, which this folder is not; how each command ended is kept. A block that looks
 * for what comes by itself a little later is repeated until it is there.
 */
const PRELUDE = `
npx() { shift; local code=0; node '${ROOT}cli/groupsync.mjs' "$@" || code=$?; echo "$2 $code" >> codes; }
npm() { shift 3; node '${ROOT}cli/groupsync.mjs' start --empty "$@"; }
until_there() { local end=$((SECONDS + 60)); until "$@" > there; do [ $SECONDS -lt $end ] || return 1; sleep 0.5; done; cat there; }
set -e -o pipefail
`;
const scriptOf = (block: string, place: number) =>
  block.includes('grep -o')
    ? `block_${place}() {\n${block}\n}\nuntil_there block_${place}`
    : `${block}\necho "block ${place} done"`;

const hasTools = ['aws', 'jq', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);

it.skipIf(!hasTools)(
  'can be walked from its first command to its last',
  async () => {
    expect(SET_UP).toBe('npm ci\nnpm start\n');
    const folder = mkdtempSync(join(tmpdir(), 'groupsync-readme-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
    const environment = { GROUPSYNC_COALESCE_SECONDS: '1' };
    start(['--empty', '--people-every', '2', '--pump-every', '1'], environment, folder);
    await vi.waitUntil(() => existsSync(join(folder, '.groupsync/local.json')), { timeout: 60_000 });

    const script = PRELUDE + WALK.map(scriptOf).join('\n');
    const { error, stdout, stderr } = await run(script, folder, environment);
    expect(error, `${stdout}\n${stderr}`).toBeNull();
    // The dead letter is a fault to doctor; sync meets the refused credential.
    expect(readFileSync(join(folder, 'codes'), 'utf8').trim().split('\n')).toEqual([
      ...['status 0', 'explain 0', 'import 0', 'dlq 0', 'doctor 3'],
      ...['sync 3', 'connect 0'],
    ]);
    expect(stdout).toMatch(/"name":"Sailing".*"users":\["user_/);
    expect(stdout).toContain('"code": "invalid_json"');
  },
  600_000,
);

const run = (script: string, cwd: string, environment: Record<string, string>) =>
  new Promise<{ error: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd, env: { ...process.env, ...environment }, maxBuffer: 2 ** 26 };
    execFile('bash', ['-c', script], options, (error, stdout, stderr) => resolve({ error, stdout, stderr }));
  });
