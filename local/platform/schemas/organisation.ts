import * as z from 'zod';
import { Address } from './employee.ts';

/** Specification, "Organisation unit (department, team, level)". */
export const OrganisationUnit = z
  .object({
    name: z.string(),
    id: z.string(),
    parent: z.string().nullable().describe('Id of the parent unit.'),
  })
  .meta({ id: 'OrganisationUnit' });
export type OrganisationUnit = z.infer<typeof OrganisationUnit>;

export const WorkLocation = z
  .object({ id: z.string(), nickname: z.string(), address: Address.nullable() })
  .meta({ id: 'WorkLocation' });
export type WorkLocation = z.infer<typeof WorkLocation>;

/** The list endpoint returns no ids (specification, "Work location"). */
export const ListedWorkLocation = WorkLocation.omit({ id: true }).meta({ id: 'ListedWorkLocation' });

/** Specification, "Company". The id is always present. Scopes decide the other fields. */
export const Company = z
  .object({
    id: z.string(),
    name: z.string().optional(),
    address: Address.nullable().optional(),
    workLocations: z.array(WorkLocation).optional(),
    primaryEmail: z.string().optional(),
    phone: z.string().optional(),
    'legal entities': z.array(z.unknown()).optional(),
  })
  .meta({ id: 'Company' });

export const CustomField = z
  .object({
    id: z.string(),
    type: z.enum([
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
    ]),
    title: z.string(),
    caption: z.string().nullable(),
    required: z.boolean(),
  })
  .meta({ id: 'CustomField' });
export type CustomField = z.infer<typeof CustomField>;
