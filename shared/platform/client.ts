import type { PlatformClientOptions } from './caller.ts';
import { groupClient, openCaller } from './group-client.ts';
import { candidatesResource } from './resources/candidates.ts';
import { companyResource } from './resources/company.ts';
import { leaveResource } from './resources/leave.ts';

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
    ...groupClient(call, options),
    company: companyResource(call),
    leave: leaveResource(call),
    candidates: candidatesResource(call),
    close,
  };
}
