import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { bundle, bundleHandlers, HANDLERS } from '../../infra/bundle.ts';
import { DEPLOYABLE_KEYS } from '../../infra/function-code.ts';

const folder = mkdtempSync(join(tmpdir(), 'groupsync-bundles-'));
const code = bundleHandlers(join(folder, 'first'));
const source = (name: (typeof DEPLOYABLE_KEYS)[number]) =>
  readFileSync(join(code[name], 'index.mjs'), 'utf8');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(DEPLOYABLE_KEYS)('the bundle of %s is one file under its limit that exports a handler', (name) => {
  expect(readdirSync(code[name])).toEqual(['index.mjs']);
  expect(statSync(join(code[name], 'index.mjs')).size).toBeLessThan(name === 'console' ? 1_800_000 : 1e6);
  expect(source(name)).toMatch(/export\{[\w$]+ as handler\}/);
});

it.each(['ingest', 'scim'] as const)(
  'the bundle of %s contains neither the HTTP client nor the secrets client, because it calls no platform',
  (name) => {
    const { metafile } = bundle({ [name]: HANDLERS[name] }, folder);
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
    expect(inputs.some((path) => path.includes('@aws-sdk/client-sqs'))).toBe(true);
    expect(inputs.filter((path) => /node_modules\/(undici|@aws-sdk\/client-secrets)/.test(path))).toEqual([]);
    // Equal sources give equal bundles, so that unchanged functions are not deployed again.
    expect(readFileSync(join(folder, `${name}.mjs`), 'utf8') === source(name)).toBe(true);
  },
);
