export { timestamp } from '../../simulate/platform/rules.ts';
