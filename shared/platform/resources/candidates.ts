import * as z from 'zod';
import type { Caller, CallOptions, Endpoint } from '../call.ts';
import { amount, CalendarDate, openEnum, text } from '../schemas/field.ts';
import { EmploymentType } from './employees.ts';

/** `PAY_PERIOD` is a custom pay period. */
const SalaryUnit = openEnum(['HOUR', 'DAY', 'WEEK', 'MONTH', 'PAY_PERIOD']);

/** Workforce Platform API, Candidate, as the platform answers it. */
const Candidate = z.object({
  name: text,
  email: text,
  jobTitle: text,
  phoneNumber: text,
  candidateId: text,
  startDate: text,
  salaryUnit: SalaryUnit.nullish(),
  salaryPerUnit: amount,
  signingBonus: amount,
  currency: text,
  equityShares: amount,
  department: text,
  employmentType: EmploymentType.nullish(),
  workLocation: text,
  attachments: z.array(z.object({ file_name: text, file_url: text })).nullish(),
});

const required = z.string().min(1);

/**
 * A candidate to push. `startDate` is YYYY-MM-DD, `currency` an ISO 4217 code, `salaryPerUnit` the pay per `salaryUnit`,
 * `signingBonus` has at most two decimal digits, `department` and `workLocation` are ids of the company's lists.
 */
const NewCandidate = z.strictObject({
  name: required,
  email: required,
  jobTitle: z.string().optional(),
  phoneNumber: z.string().optional(),
  candidateId: required.optional(),
  startDate: CalendarDate.optional(),
  salaryUnit: z.enum(['HOUR', 'DAY', 'WEEK', 'MONTH', 'PAY_PERIOD']).optional(),
  salaryPerUnit: z.number().min(0).optional(),
  signingBonus: z.number().min(0).refine(hasCents, 'expected at most two decimal digits').optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'expected an ISO 4217 code')
    .optional(),
  equityShares: z.number().min(0).optional(),
  department: required.optional(),
  employmentType: z
    .enum(['CONTRACTOR', 'SALARIED_PT', 'SALARIED_FT', 'HOURLY_FT', 'HOURLY_PT', 'TEMP'])
    .optional(),
  workLocation: required.optional(),
  attachments: z
    .array(z.strictObject({ file_name: required, file_url: z.url() }))
    .readonly()
    .optional(),
});
type NewCandidate = z.infer<typeof NewCandidate>;

/** Judged on the digits that will be sent, not on a binary fraction. */
function hasCents(value: number): boolean {
  return /^\d+(\.\d{1,2})?$/.test(String(value));
}

const PUSH: Endpoint = { method: 'POST', path: '/platform/api/ats_candidates/push_candidate' };

/** Workforce Platform API, Candidates (OAuth applications only; customer API keys are a ForbiddenError). */
export const candidatesResource = (call: Caller) => ({
  /**
   * `POST /ats_candidates/push_candidate`: pushes a candidate into onboarding; answers the candidate as recorded.
   * Repeated only where the first try provably did nothing. @throws BadRequestError, ForbiddenError
   */
  push: (value: NewCandidate, options?: CallOptions) =>
    call({ endpoint: PUSH, body: { schema: NewCandidate, value }, decoding: { schema: Candidate } }, options),
});
