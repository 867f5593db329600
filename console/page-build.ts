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

/** Returns the files of the page, by path. @param read reads a file of the folder `console/page` */
export const pageFiles = (script: string, read: (name: string) => string) => ({
  '/app.js': { type: 'text/javascript; charset=utf-8', body: script },
  '/style.css': { type: 'text/css; charset=utf-8', body: read('style.css') },
  '/icon.svg': { type: 'image/svg+xml', body: read('icon.svg') },
});
