/** One form of times for everything that the platform answers. */
export { timestamp } from '../../simulate/platform/rules.ts';
