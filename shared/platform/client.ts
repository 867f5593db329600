import { openCaller, type PlatformClientOptions } from './open-caller.ts';
import { activityNames, activityResource } from './resources/activity.ts';
import { candidatesResource } from './resources/candidates.ts';
import { companyResource } from './resources/company.ts';
import { currentUserResource } from './resources/current-user.ts';
import { employeesResource } from './resources/employees.ts';
import { groupsResource } from './resources/groups.ts';
import { leaveResource } from './resources/leave.ts';

export type { PlatformClientOptions } from './open-caller.ts';

export type PlatformClient = ReturnType<typeof createPlatformClient>;

/**
 * A client of the Workforce Platform, for one credential and so for one company.
 *
 * Every method takes `{signal, deadlineMs, timeoutMs}` last and fails with a PlatformError of `errors.ts`:
 * InvalidRequestError, BadRequestError, UnauthorizedError, ForbiddenError, NotFoundError, ConflictError,
 * RateLimitedError, ServerError, TimeoutError, NetworkError, AbortedError, UnexpectedStatusError, UnexpectedBodyError.
 * @throws TypeError where an option is not as described.
 */
export function createPlatformClient(options: PlatformClientOptions) {
  const { call, close } = openCaller(options);
  return {
    employees: employeesResource(call),
    company: companyResource(call),
    leave: leaveResource(call),
    groups: groupsResource(call),
    candidates: candidatesResource(call),
    activity: activityResource(call, { names: activityNames(options.activity), clock: options.clock }),
    ...currentUserResource(call),
    close,
  };
}
