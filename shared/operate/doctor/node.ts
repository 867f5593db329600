import type { Check } from '../../contract/answers/connect.ts';
import { passed } from './check.ts';

const RECOMMENDED = ['22', '24'];

/** Reports the Node.js version that runs the command. Any version that the package accepts works. */
export function checkNode(version: string): Check {
  const [major = ''] = version.split('.');
  if (RECOMMENDED.includes(major)) return passed('node', version);
  const limit = Number(major) < 22 ? '; the AWS SDK requires Node 22 from January 2027' : '';
  return passed('node', `${version} works${limit}; ${RECOMMENDED.join(' or ')} is recommended`);
}
