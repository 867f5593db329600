import * as z from 'zod';

/** An observed behaviour of the platform that the specification leaves open. */
export const ProbeFinding = z.object({
  about: z.string(),
  found: z.string().describe('The behaviour; begins with `unknown` if probe could not determine it.'),
});
export type ProbeFinding = z.infer<typeof ProbeFinding>;

/** The findings of `groupsync probe`. They are valid only for this base URL and this company. */
export const ContractReport = z.lazy(() =>
  z.object({
    baseUrl: z.string(),
    company: z.string(),
    atMs: z.number(),
    findings: z.array(ProbeFinding),
  }),
);
export type ContractReport = z.infer<typeof ContractReport>;
