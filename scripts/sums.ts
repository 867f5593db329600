import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/* `npm run sums` writes the SHA-256 sums of all files in `release/`, in the form that `sha256sum --check` reads. */
const RELEASE = new URL('../release/', import.meta.url);
const SUMS = 'SHA256SUMS';

const names = readdirSync(RELEASE).filter((name) => name !== SUMS);
const lines = names.sort().map((name) => {
  const sum = createHash('sha256')
    .update(readFileSync(new URL(name, RELEASE)))
    .digest('hex');
  return `${sum}  ${name}\n`;
});
writeFileSync(new URL(SUMS, RELEASE), lines.join(''));
console.log(`${fileURLToPath(new URL(SUMS, RELEASE))}: ${lines.length} files`);
