import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleHandlers } from '../infra/bundle.ts';
import { DEPLOYABLE_KEYS } from '../infra/function-code.ts';
import { VERSION } from '../shared/contract/version.ts';
import { releaseTemplate, zipName } from './release-template.ts';
import { zipOf } from './zip.ts';

/*
 * `npm run template` writes the CloudFormation template of this version and one zip file per function into `release/`.
 * The same sources give the same bytes.
 */
const OUT = fileURLToPath(new URL('../release', import.meta.url));

/** The largest template that CloudFormation reads from a bucket (CloudFormation quotas). */
const MAX_TEMPLATE_BYTES = 1_000_000;

mkdirSync(OUT, { recursive: true });
const bundles = mkdtempSync(join(tmpdir(), 'groupsync-template-'));
const folders = bundleHandlers(bundles);
const template = JSON.stringify(releaseTemplate());
// The template contains no directory reader and no console, because their settings cannot be parameters of a template.
const keys = DEPLOYABLE_KEYS.filter((key) => template.includes(zipName(key)));
for (const key of keys) {
  const zip = zipOf('index.mjs', readFileSync(join(folders[key], 'index.mjs')));
  writeFileSync(join(OUT, zipName(key)), zip);
}
rmSync(bundles, { recursive: true });
const name = `groupsync-${VERSION}.template.json`;
if (template.length > MAX_TEMPLATE_BYTES)
  throw new Error(`${name}: expected at most ${MAX_TEMPLATE_BYTES} bytes, got ${template.length}`);
writeFileSync(join(OUT, name), template);
console.log(`release/${name} (${Math.round(template.length / 1e3)} KB) and ${keys.length} zip files`);
