import * as z from 'zod';

/** An observed behaviour of the platform that its specification leaves open. */
export const Finding = z.object({
  about: z.string(),
  found: z.string().describe('Begins with `unknown` where it could not be found out.'),
});
export type Finding = z.infer<typeof Finding>;

/** What `groupsync probe` found: at this address, for this company, and nowhere else. */
export const ContractReport = z.lazy(() =>
  z.object({
    baseUrl: z.string(),
    company: z.string(),
    atMs: z.number(),
    findings: z.array(Finding),
  }),
);
export type ContractReport = z.infer<typeof ContractReport>;
