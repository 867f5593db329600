/** The version of package.json (a test compares the two). Bundles contain no package.json. */
export const VERSION = '0.1.0';
