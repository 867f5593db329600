/** Returns esbuild's options for the script of the page. @param sources the folder `console/page` */
export const pageBuild = (sources: string) => ({
  entryPoints: [`${sources}main.tsx`],
  bundle: true,
  minify: true,
  write: false as const,
  format: 'esm' as const,
  target: 'es2022',
  jsx: 'automatic' as const,
  jsxImportSource: 'preact',
  logLevel: 'silent' as const,
});
