import { build } from 'esbuild';

/**
 * Packages that are not bundled in a checkout: they are large and change rarely. All others are bundled, because one
 * file starts faster.
 */
const NOT_BUNDLED = ['dynalite', 'fastify', 'esbuild', 'oidc-provider'];

/**
 * Builds Node programs from this project's sources, all into one folder.
 * @param external packages that are not bundled
 * @param more esbuild's options
 */
export const buildPrograms = ({ external = NOT_BUNDLED, ...more }) =>
  build({
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: external.flatMap((name) => [name, `${name}/*`]),
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    ...more,
  });
