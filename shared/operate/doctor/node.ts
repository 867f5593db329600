import type { Check } from '../../contract/answers/connect.ts';
import { passed } from './check.ts';

const RECOMMENDED = ['22', '24'];

/** Reports the Node.js version that runs the command. Any version that the package accepts works. */
export function checkNode(version: string): Check {
  const [major = ''] = version.split('.');
  const advice = RECOMMENDED.includes(major) ? '' : ` works; ${RECOMMENDED.join(' or ')} is recommended`;
  return passed('node', `${version}${advice}`);
}
