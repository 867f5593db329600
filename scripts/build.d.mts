import type { BuildOptions, BuildResult } from 'esbuild';

export function buildPrograms(
  options: BuildOptions & { readonly external?: string[] },
): Promise<BuildResult<{ metafile: true }>>;
