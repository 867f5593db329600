/** As in package.json (a test compares the two): bundles carry no package.json. */
export const VERSION = '0.1.0';
