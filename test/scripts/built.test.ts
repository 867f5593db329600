import { existsSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { builtFolder } from '../../scripts/built.mjs';

it('programs are built once, and built again only after a source changed', async () => {
  const build = () => builtFolder(['shared/contract/nearest.ts'], ['shared/contract']);
  const folder = await build();
  const program = new URL('nearest.mjs', folder);
  expect(existsSync(program)).toBe(true);
  const { mtimeMs } = statSync(program);
  expect(String(await build())).toBe(String(folder));
  expect(statSync(program).mtimeMs).toBe(mtimeMs);
});

it('a program that imports sources outside the given folders is refused', async () => {
  await expect(builtFolder(['cli/output/words.ts'], ['cli'])).rejects.toThrow(
    /expected sources in cli, got shared/,
  );
});
