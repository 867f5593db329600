import * as z from 'zod';
import { describeIssues } from '../errors.ts';
import { ActivityBatch } from '../schemas/activity.ts';
import { Candidate } from '../schemas/candidate.ts';
import { Address, EmployeeRecord } from '../schemas/employee.ts';
import { Group } from '../schemas/group.ts';
import { LeavePolicy, LeaveRecord, LeaveTypeRecord } from '../schemas/leave.ts';
import { CustomField } from '../schemas/organisation.ts';

const Text = z.union([z.string(), z.number().transform(String)]);
const id = z.string().min(1).optional();

/** An employee in a world file. All fields are optional. Both spellings of the nickname are accepted. */
export const WorldEmployee = EmployeeRecord.partial().extend({
  workLocationNickname: z.string().optional(),
  employeeNumber: Text.optional(),
  ein: Text.nullish(),
});
export type WorldEmployee = z.infer<typeof WorldEmployee>;

const WorldUnit = z.object({ id, name: z.string(), parent: z.string().nullable().default(null) });
const WorldWorkLocation = z.object({ id, nickname: z.string(), address: Address.nullable().default(null) });
const WorldCustomField = CustomField.partial().required({ title: true });
const WorldLeaveType = LeaveTypeRecord.partial().required({ leaveType: true });
const WorldLeavePolicy = LeavePolicy.partial();
const WorldGroup = Group.extend({
  id,
  spokeId: Group.shape.spokeId.default(null),
  users: Group.shape.users.default([]),
  version: Group.shape.version.optional(),
});

const WorldCompany = z.object({
  id,
  name: z.string().default('Company'),
  address: Address.nullable().default(null),
  primaryEmail: z.string().default(''),
  phone: z.string().default(''),
  legalEntities: z.array(z.unknown()).optional(),
  'legal entities': z.array(z.unknown()).optional(),
  employees: z.array(WorldEmployee).default([]),
  departments: z.array(WorldUnit).default([]),
  teams: z.array(WorldUnit).default([]),
  levels: z.array(WorldUnit).default([]),
  workLocations: z.array(WorldWorkLocation).default([]),
  customFields: z.array(WorldCustomField).default([]),
  leaveTypes: z.array(WorldLeaveType).default([]),
  leavePolicies: z.array(WorldLeavePolicy).default([]),
  groups: z.array(WorldGroup).default([]),
  leaveRequests: z.array(LeaveRecord).default([]),
  candidates: z.array(Candidate).default([]),
  activity: z.object({ feed: z.string(), batches: z.array(ActivityBatch) }).optional(),
});
export type WorldCompany = z.infer<typeof WorldCompany>;

export const WorldCredential = z.object({
  token: z
    .string()
    .min(1)
    .regex(/^[\x21-\x7e]+$/, 'expected printable ASCII without blanks'),
  kind: z.enum(['oauth_app', 'api_key']),
  company: z.string().optional(),
  role: z.enum(['admin', 'manager', 'employee']).default('admin'),
  scopes: z.array(z.string()).optional(),
  app: z.string().optional(),
  employee: z.string().optional(),
  installed: z.boolean().optional(),
});

/** The format of a world file, of `GET /_simulator/state` and of the data file's first line. */
export const World = z.object({
  companies: z.array(WorldCompany).min(1, 'expected at least one company'),
  credentials: z.array(WorldCredential).default([]),
});
export type World = z.infer<typeof World>;
export type WorldInput = z.input<typeof World>;

/** The world file cannot be used. The message is one line that names the field. */
export class WorldError extends Error {
  override readonly name = 'WorldError';
}

/** Validates a world. @throws {WorldError} with the path of every invalid field */
export function parseWorld(json: unknown): World {
  const parsed = World.safeParse(withoutNullText(json));
  if (!parsed.success) throw new WorldError(describeIssues(parsed.error, ''));
  return parsed.data;
}

const NULLABLE: ReadonlySet<string> = new Set(
  Object.entries(EmployeeRecord.shape)
    .filter(([, schema]) => schema.safeParse(null).success)
    .map(([field]) => field),
);

/** Exports of other systems contain null where the specification has a string. Such a field counts as missing. */
function withoutNullText(json: unknown): unknown {
  if (!isRecord(json) || !Array.isArray(json['companies'])) return json;
  const companies = json['companies'].map((company: unknown) => {
    if (!isRecord(company) || !Array.isArray(company['employees'])) return company;
    return { ...company, employees: company['employees'].map(withoutNulls) };
  });
  return { ...json, companies };
}

/** Removes the null fields of an employee, except those where null is a valid value. */
export function withoutNulls(employee: unknown): unknown {
  if (!isRecord(employee)) return employee;
  return Object.fromEntries(
    Object.entries(employee).filter(([field, value]) => value !== null || NULLABLE.has(field)),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
