import * as z from 'zod';

/** Specification, "Address". Fields of this type can be null. */
export const Address = z
  .object({
    streetLine1: z.string(),
    streetLine2: z.string(),
    zip: z.string(),
    city: z.string(),
    state: z.string(),
    country: z.string(),
    phone: z.string(),
    isRemote: z.boolean(),
    steLocationCode: z
      .object({
        locationCode: z.string(),
        stateCode: z.string(),
        countyCode: z.string(),
        cityCode: z.string(),
        schoolCode: z.string(),
        municipalityCode: z.string(),
        psdCode: z.string(),
        transitDistrictCode: z.string(),
        isOverridden: z.string(),
      })
      .partial(),
  })
  .partial()
  .meta({ id: 'Address' });
export type Address = z.infer<typeof Address>;

export const EmploymentType = z.enum([
  'CONTRACTOR',
  'SALARIED_FT',
  'SALARIED_PT',
  'HOURLY_FT',
  'HOURLY_PT',
  'TEMP',
]);
const RoleState = z.enum(['INIT', 'HIRED', 'ACCEPTED', 'ACTIVE', 'TERMINATED']);

export const WEEKDAYS = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
] as const;
const DaySchedule = z.object({ hours: z.number().min(0).max(24) });

const fields = {
  userId: z.string().min(1).describe('User id. One user can span several companies.'),
  name: z.string().describe('Full name.'),
  preferredFirstName: z.string(),
  preferredLastName: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  employmentType: EmploymentType,
  title: z.string().describe('Work title.'),
  gender: z.enum(['MALE', 'FEMALE']).nullable(),
  identifiedGender: z.enum(['MALE', 'FEMALE', 'NONBINARY']).nullable(),
  department: z.string().describe('Department name.'),
  workLocation: Address.nullable(),
  worklocationNickname: z
    .string()
    .describe('Work location nickname. The list of active employees spells the field workLocationNickname.'),
  spokeId: z.string().nullable(),
  endDate: z.string().nullable(),
  workEmail: z.string().nullable(),
  manager: z.string().nullable().describe("Role id of the employee's manager."),
  customFields: z.record(z.string(), z.unknown()).describe('Values keyed by custom field title.'),
  isInternational: z.boolean(),
  isManager: z.boolean(),
  workSchedule: z.partialRecord(z.enum(WEEKDAYS), DaySchedule),
  isRemote: z.boolean(),
  employeeNumber: z.string().describe('Sequential within the company.'),
  level: z.string(),
  teams: z
    .array(z.unknown())
    .describe('The specification does not define the items. The generator uses team names.'),
  photo: z.string(),
  smallPhoto: z.string(),
};

const guaranteed = {
  id: z.string().min(1).describe('Role id.'),
  personalEmail: z.string(),
  roleState: RoleState,
};

/**
 * An employee as returned (specification, "Employee"). Three fields are always present. Scopes decide the other fields.
 */
export const Employee = z
  .object({ ...guaranteed, ...z.object(fields).partial().shape, workLocationNickname: z.string().optional() })
  .meta({ id: 'Employee' });

/** An employee in the simulator's state, with the fields that decide which list shows the employee. */
export const EmployeeRecord = z.object({
  ...guaranteed,
  ...fields,
  provisioned: z.boolean().describe('Whether the employee is provisioned to the application.'),
  ein: z.string().nullable().describe('Employer identification number, digits.'),
  timezone: z.string().describe('Time zone name, shown on leave requests as roleTimezone.'),
});
export type EmployeeRecord = z.infer<typeof EmployeeRecord>;
