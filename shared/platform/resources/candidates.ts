import type { Caller, CallOptions } from '../call.ts';
import type { Endpoint } from '../endpoint.ts';
import { Candidate, NewCandidate } from '../schemas/candidate.ts';

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
