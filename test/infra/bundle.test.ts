import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bundle, bundleHandlers, HANDLERS } from '../../infra/bundle.ts';
import { FUNCTION_KEYS } from '../../shared/contract/names.ts';

const folder = mkdtempSync(join(tmpdir(), 'groupsync-bundles-'));
const code = bundleHandlers(join(folder, 'first'));
const source = (name: (typeof FUNCTION_KEYS)[number]) => readFileSync(join(code[name], 'index.mjs'), 'utf8');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the bundles', () => {
  it.each(FUNCTION_KEYS)('%s is one file that exports its handler', (name) => {
    expect(readdirSync(code[name])).toEqual(['index.mjs']);
    expect(source(name)).toMatch(/export\{\w+ as handler\}/);
  });

  it('are the same bytes for the same sources, so that an unchanged function is not deployed again', () => {
    const again = bundleHandlers(join(folder, 'second'));
    for (const name of FUNCTION_KEYS) {
      expect(readFileSync(join(again[name], 'index.mjs'), 'utf8') === source(name)).toBe(true);
    }
  });

  it('of ingest holds neither the HTTP client nor the one for secrets: it calls no platform', () => {
    const { metafile } = bundle({ ingest: HANDLERS.ingest }, join(folder, 'ingest'));
    const inputs = Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs));
    expect(inputs.some((path) => path.includes('@aws-sdk/client-sqs'))).toBe(true);
    expect(inputs.filter((path) => /node_modules\/(undici|@aws-sdk\/client-secrets)/.test(path))).toEqual([]);
  });
});
