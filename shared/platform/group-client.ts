import type { Caller } from './call.ts';
import { openCaller, type PlatformClientOptions } from './open-caller.ts';
import { activityNames, activityResource } from './resources/activity.ts';
import { currentUserResource } from './resources/current-user.ts';
import { employeesResource } from './resources/employees.ts';
import { groupsResource } from './resources/groups.ts';

export type GroupClient = ReturnType<typeof createGroupClient>;

/** What keeping groups equal needs of the client, and no more: the schemas of the rest cost each cold start. */
export const createGroupClient = (options: PlatformClientOptions) =>
  groupClient(openCaller(options).call, options);

export function groupClient(call: Caller, options: PlatformClientOptions) {
  return {
    employees: employeesResource(call),
    groups: groupsResource(call),
    activity: activityResource(call, { names: activityNames(options.activity), clock: options.clock }),
    ...currentUserResource(call),
  };
}
