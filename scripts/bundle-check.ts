import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Metafile } from 'esbuild';
import { bundle, HANDLERS } from '../infra/bundle.ts';
import { DEPLOYABLE_KEYS, type DeployableKey } from '../infra/function-code.ts';
import { ENVIRONMENT } from '../shared/contract/names.ts';
import { baselineSource } from './bundle-check/baseline.ts';

/**
 * `npm run bundle:check` tests that the functions are small and start fast. The baseline of a function is a bundle with
 * only the packages that its sources import. So the difference between both start-up times is caused by groupsync's own
 * code.
 */

const MAX_BYTES = 900_000;
const MAX_INIT_RATIO = 1.25;
const RUNS = 21;
const CALL_NO_PLATFORM: ReadonlySet<DeployableKey> = new Set(['ingest', 'scim']);
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The environment for functions that read their configuration when they are loaded. */
const LOADING_ENVIRONMENT: Record<string, string> = {
  PATH: process.env['PATH'] ?? '',
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  [ENVIRONMENT.prefix]: 'groupsync',
  [ENVIRONMENT.table]: 'groupsync-state',
  [ENVIRONMENT.applyQueueUrl]: 'https://sqs.eu-west-1.amazonaws.com/111122223333/groupsync-apply',
  [ENVIRONMENT.eventsDlqUrl]: 'https://sqs.eu-west-1.amazonaws.com/111122223333/groupsync-events-dlq',
  [ENVIRONMENT.applyDlqUrl]: 'https://sqs.eu-west-1.amazonaws.com/111122223333/groupsync-apply-dlq',
  [ENVIRONMENT.coalesceSeconds]: '5',
  [ENVIRONMENT.logLevel]: 'error',
};

const packagesIn = (metafile: Metafile): Set<string> =>
  new Set(
    Object.values(metafile.outputs)
      .flatMap(({ inputs }) => Object.entries(inputs))
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .flatMap(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []),
  );

function loadMs(file: string): number {
  const script = `const t = performance.now(); await import(${JSON.stringify(pathToFileURL(file).href)}); console.log(performance.now() - t); process.exit(0)`;
  const options = { env: LOADING_ENVIRONMENT, encoding: 'utf8' } as const;
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], options);
  return Number(out.trim().split('\n').at(-1));
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

interface Measured {
  readonly name: DeployableKey;
  readonly bytes: number;
  readonly baselineBytes: number;
  readonly initMs: number;
  readonly baselineMs: number;
  readonly faults: readonly string[];
}

function measure(name: DeployableKey, folder: string): Measured {
  const { metafile } = bundle({ [name]: HANDLERS[name] }, folder);
  const source = join(folder, `${name}-baseline.ts`);
  writeFileSync(source, baselineSource(metafile));
  bundle({ [`${name}-baseline`]: source }, folder);
  const file = join(folder, `${name}.mjs`);
  const baseline = join(folder, `${name}-baseline.mjs`);
  // The measurements of the bundle and the baseline alternate, so that other load on the machine affects both.
  const pairs = Array.from({ length: RUNS }, () => [loadMs(file), loadMs(baseline)] as const);
  const initMs = median(pairs.map(([ours]) => ours));
  const baselineMs = median(pairs.map(([, theirs]) => theirs));
  const bytes = statSync(file).size;
  const faults: string[] = [];
  if (bytes > MAX_BYTES) faults.push(`is over ${MAX_BYTES} bytes`);
  if (initMs / baselineMs > MAX_INIT_RATIO) faults.push(`starts over ${MAX_INIT_RATIO} times its baseline`);
  if (CALL_NO_PLATFORM.has(name) && packagesIn(metafile).has('undici')) faults.push('contains undici');
  return { name, bytes, baselineBytes: statSync(baseline).size, initMs, baselineMs, faults };
}

function main(): void {
  // The folder is inside the project, so that the baselines use the project's node_modules.
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'dist/bundle-check-'));
  try {
    const measured = DEPLOYABLE_KEYS.map((name) => measure(name, folder));
    console.log('function   bundle kB  baseline kB  import ms  baseline ms  ratio');
    for (const { name, bytes, baselineBytes, initMs, baselineMs, faults } of measured) {
      const figures = [
        (bytes / 1000).toFixed(0).padStart(9),
        (baselineBytes / 1000).toFixed(0).padStart(11),
        initMs.toFixed(1).padStart(9),
        baselineMs.toFixed(1).padStart(11),
        (initMs / baselineMs).toFixed(2).padStart(5),
      ];
      console.log(`${name.padEnd(10)} ${figures.join('  ')}  ${faults.join(', ')}`);
    }
    if (measured.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

main();
