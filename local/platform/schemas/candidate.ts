import * as z from 'zod';
import { EmploymentType } from './employee.ts';

const isCents = (value: number) => Math.abs(value * 100 - Math.round(value * 100)) < 1e-6;

/**
 * The schema "Candidate" of the platform's specification. The simulator requires a name and an e-mail address. All
 * other fields are optional.
 */
export const Candidate = z
  .object({
    name: z.string().min(1),
    email: z.email(),
    jobTitle: z.string().nullish(),
    phoneNumber: z.string().nullish(),
    candidateId: z.string().nullish().describe('Identifier in the applicant tracking system.'),
    startDate: z.iso.date().nullish(),
    salaryUnit: z.enum(['HOUR', 'DAY', 'WEEK', 'MONTH', 'PAY_PERIOD']).nullish(),
    salaryPerUnit: z.number().min(0).nullish(),
    signingBonus: z.number().min(0).refine(isCents, 'expected at most two decimal digits').nullish(),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'expected an ISO 4217 code such as USD')
      .nullish(),
    equityShares: z.number().min(0).nullish(),
    department: z.string().nullish().describe('Id from the departments list.'),
    employmentType: EmploymentType.nullish(),
    workLocation: z.string().nullish().describe('Id from the work locations list.'),
    attachments: z.array(z.object({ file_name: z.string(), file_url: z.string() })).nullish(),
  })
  .meta({ id: 'Candidate' });
export type Candidate = z.infer<typeof Candidate>;
