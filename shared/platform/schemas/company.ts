import * as z from 'zod';
import { Address } from './address.ts';
import { flag, openEnum, text } from './field.ts';

const id = z.string().min(1);

/** Workforce Platform API, Work location. The standalone list gives no `id`. */
export const WorkLocation = z.object({ id: text, nickname: text, address: Address.nullish() });
export type WorkLocation = z.infer<typeof WorkLocation>;

/** Workforce Platform API, Organisation unit: a department, team or level; `parent` is the id of the unit above. */
export const OrganisationUnit = z.object({ id, name: text, parent: text });
export type OrganisationUnit = z.infer<typeof OrganisationUnit>;

/** Workforce Platform API, Company. The key `legal entities` is read as `legalEntities`. */
export const Company = z
  .object({
    id,
    name: text,
    address: Address.nullish(),
    workLocations: z.array(WorkLocation).nullish(),
    primaryEmail: text,
    phone: text,
    'legal entities': z.array(z.unknown()).nullish(),
  })
  .transform(({ 'legal entities': legalEntities, ...company }) => ({
    ...company,
    /** Only entities based in CA are supported; their fields are not specified. */
    ...(legalEntities === undefined ? {} : { legalEntities }),
  }));
export type Company = z.infer<typeof Company>;

const CustomFieldType = openEnum([
  'TEXT',
  'DATE',
  'NUMBER',
  'CURRENCY',
  'PERCENTAGE',
  'SELECT',
  'FILE',
  'ID',
  'RADIO',
  'TEXTAREA',
]);

/** Workforce Platform API, Custom field definition. Employees carry values under its `title`. */
export const CustomField = z.object({
  id,
  type: CustomFieldType.nullish(),
  title: text,
  caption: text,
  required: flag,
});
export type CustomField = z.infer<typeof CustomField>;

/** Workforce Platform API, Company leave type. */
export const LeaveType = z.object({ id, leaveType: text, name: text, description: text, isUnpaid: flag });
export type LeaveType = z.infer<typeof LeaveType>;
