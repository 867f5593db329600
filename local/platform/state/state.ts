import type { z } from 'zod';
import { type FeedEntry, feedEntries } from '../../../simulate/platform/rules.ts';
import type { ActivityBatch } from '../schemas/activity.ts';
import type { Candidate } from '../schemas/candidate.ts';
import type { Address, EmployeeRecord } from '../schemas/employee.ts';
import type { Group } from '../schemas/group.ts';
import type { LeavePolicy, LeaveRecord, LeaveTypeRecord } from '../schemas/leave.ts';
import type { CustomField, OrganisationUnit, WorkLocation } from '../schemas/organisation.ts';
import type { WorldCredential } from './world.ts';

export type ActivityEntry = FeedEntry<ActivityBatch>;

/** Activity events. Entries are only appended and never moved, so a cursor can be the position of an entry. */
export interface ActivityLog {
  /** The id of this log. A reset gives the log a new id, so that cursors of the earlier log are rejected. */
  readonly feed: string;
  readonly batches: ActivityBatch[];
  readonly entries: ActivityEntry[];
}

export interface CompanyState {
  readonly id: string;
  readonly name: string;
  readonly address: Address | null;
  readonly primaryEmail: string;
  readonly phone: string;
  readonly legalEntities: readonly unknown[];
  readonly workLocations: readonly WorkLocation[];
  readonly departments: readonly OrganisationUnit[];
  readonly teams: readonly OrganisationUnit[];
  readonly levels: readonly OrganisationUnit[];
  readonly customFields: readonly CustomField[];
  readonly leaveTypes: ReadonlyMap<string, LeaveTypeRecord>;
  readonly leavePolicies: ReadonlyMap<string, z.infer<typeof LeavePolicy>>;
  /** The employees by role id, in the order in which they were added. Lists of employees have the same order. */
  readonly employees: Map<string, EmployeeRecord>;
  /** The role id of each user id. For a user with several roles, it is the id of an active role, if there is one. */
  readonly roleByUser: Map<string, string>;
  readonly groups: Map<string, Group>;
  readonly leaveRequests: Map<string, LeaveRecord>;
  readonly leaveByRole: Map<string, Set<string>>;
  readonly candidates: Candidate[];
  readonly activity: ActivityLog;
}

export interface Credential {
  readonly token: string;
  readonly kind: z.infer<typeof WorldCredential>['kind'];
  readonly company: string;
  readonly role: z.infer<typeof WorldCredential>['role'];
  readonly scopes: readonly string[];
  readonly app: string;
  readonly employee: string | null;
  installed: boolean;
}

export interface State {
  readonly companies: Map<string, CompanyState>;
  readonly credentials: Map<string, Credential>;
}

/** Returns the employee for an id of a group's `users`, which is a user id or a role id. */
export function employeeOf(company: CompanyState, user: string): EmployeeRecord | undefined {
  return company.employees.get(company.roleByUser.get(user) ?? user);
}

export function putEmployee(company: CompanyState, employee: EmployeeRecord): void {
  const { id, userId } = employee;
  const previous = company.employees.get(id);
  if (previous !== undefined && company.roleByUser.get(previous.userId) === id) {
    company.roleByUser.delete(previous.userId);
  }
  company.employees.set(id, employee);
  const other = company.employees.get(company.roleByUser.get(userId) ?? '');
  if (employee.roleState === 'ACTIVE') company.roleByUser.set(userId, id);
  else if (other?.roleState !== 'ACTIVE') company.roleByUser.set(userId, activeRole(company, userId) ?? id);
}

function activeRole({ employees }: CompanyState, userId: string): string | undefined {
  for (const one of employees.values())
    if (one.userId === userId && one.roleState === 'ACTIVE') return one.id;
  return undefined;
}

export function putLeaveRequest(company: CompanyState, request: LeaveRecord): void {
  company.leaveRequests.set(request.id, request);
  const ofRole = company.leaveByRole.get(request.role) ?? new Set();
  company.leaveByRole.set(request.role, ofRole.add(request.id));
}

export function appendActivity(log: ActivityLog, batch: ActivityBatch): void {
  log.batches.push(batch);
  for (const entry of feedEntries(batch)) log.entries.push(entry);
}
