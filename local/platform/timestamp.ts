/** The format of all times that the platform returns. */
export { timestamp } from '../../simulate/platform/rules.ts';
