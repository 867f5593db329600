/** The version of package.json, which bundles do not contain. A test compares the two versions. */
export const VERSION = '0.1.0';
