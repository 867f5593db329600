import { build } from 'esbuild';

/**
 * Packages that are not bundled in a checkout, because they are large and change rarely. All other packages are
 * bundled, so that the program is one file and starts faster.
 */
const NOT_BUNDLED = ['dynalite', 'fastify', 'esbuild', 'oidc-provider'];

/** Builds Node programs from this project's sources into one folder. */
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
