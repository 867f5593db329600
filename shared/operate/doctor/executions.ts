import type { Check } from '../../contract/answers/connect.ts';
import { FUNCTION_KEYS } from '../../contract/names.ts';
import { EVENT_SOURCES } from '../../contract/topology.ts';
import type { Deployment } from '../../sync/ports/deployment.ts';
import { type Checked, check, passed } from './check.ts';

/**
 * The maximum number of concurrent executions of all functions except SCIM: the limits of the queues, and one execution
 * for each other function.
 */
const NEEDED =
  Object.values(EVENT_SOURCES).reduce((sum, { maximumConcurrency }) => sum + maximumConcurrency, 0) +
  FUNCTION_KEYS.filter((key) => !(key in EVENT_SOURCES)).length;

const QUOTA = 'docs/deploy.md, "Before you start", shows how to request a higher quota, which is free';

/**
 * Checks how many of the account's executions the SCIM function can use. Requests from the internet must not use up the
 * executions of all functions.
 */
export async function checkExecutions(deployment: Deployment): Promise<Checked> {
  const [executions, scim] = await Promise.all([deployment.executions(), deployment.scim()]);
  if (executions === undefined) return [];
  const { limit, unreserved } = executions;
  const account = passed('executions', `the account may run ${limit}; ${unreserved} are not reserved`);
  return scim === undefined ? account : [account, checkReservation(scim.reserved, { limit, unreserved })];
}

function checkReservation(
  reserved: number | undefined,
  { limit, unreserved }: { limit: number; unreserved: number },
): Check {
  if (reserved === undefined)
    return check('scim executions', false, {
      detail: `SCIM requests can use all ${limit} executions of the account, and stop the other functions`,
      fix: `set scimConcurrency to a number, and deploy; ${QUOTA}`,
    });
  return check('scim executions', unreserved >= NEEDED, {
    detail: `${reserved} are reserved for SCIM; ${unreserved} are left for all other functions of the account, and groupsync uses up to ${NEEDED}`,
    fix: `lower scimConcurrency, or ${QUOTA}`,
  });
}
