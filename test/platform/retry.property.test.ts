import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decideRetry, type RetryFailure, type RetryQuestion } from '../../shared/platform/retry.ts';

const failure: fc.Arbitrary<RetryFailure> = fc.oneof(
  fc.record({ sent: fc.constantFrom('no' as const, 'maybe' as const) }),
  fc.record({
    status: fc.integer({ min: 200, max: 599 }),
    retryAfterMs: fc.option(fc.nat({ max: 10_000_000 }), { nil: undefined }),
  }),
);

const question: fc.Arbitrary<RetryQuestion> = fc.record({
  method: fc.constantFrom(
    'GET' as const,
    'POST' as const,
    'PUT' as const,
    'PATCH' as const,
    'DELETE' as const,
  ),
  failure,
  attempt: fc.integer({ min: 1, max: 10 }),
  maxAttempts: fc.integer({ min: 1, max: 10 }),
  nowMs: fc.nat(),
  deadlineMs: fc.nat(),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

it('decideRetry waits at least Retry-After, never past the deadline, and never after the last attempt', () => {
  fc.assert(
    fc.property(question, (asked) => {
      const waitMs = decideRetry(asked);
      if (waitMs === undefined) return;
      expect(asked.nowMs + waitMs).toBeLessThan(asked.deadlineMs);
      expect(asked.attempt).toBeLessThan(asked.maxAttempts);
      const waited = 'status' in asked.failure ? (asked.failure.retryAfterMs ?? 0) : 0;
      expect(waitMs).toBeGreaterThanOrEqual(waited);
    }),
    { numRuns: 2000 },
  );
});
