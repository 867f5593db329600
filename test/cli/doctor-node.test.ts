import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { savedWorld } from '../support/operate/world.ts';

it.each([
  ['20.19.0', '20.19.0 works; the AWS SDK requires Node 22 from January 2027; 22 or 24 is recommended'],
  ['22.12.0', '22.12.0'],
  ['24.1.0', '24.1.0'],
  ['26.0.0', '26.0.0 works; 22 or 24 is recommended'],
])('doctor on Node %s has one check of Node, with the detail: %s', async (nodeVersion, detail) => {
  const { ports } = await savedWorld();
  const { json } = await runCli(['doctor', '--json'], { ports, nodeVersion });
  const found = json.checks.filter(({ name }: { readonly name: string }) => name === 'node');
  expect(found).toEqual([{ name: 'node', ok: true, detail, fix: null }]);
});
