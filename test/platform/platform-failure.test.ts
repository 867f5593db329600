import { expect, it } from 'vitest';
import { meaningOf } from '../../shared/plan/meaning.ts';
import * as errors from '../../shared/platform/errors.ts';
import { failureOf } from '../../shared/platform/errors.ts';

const facts = (sent: 'no' | 'maybe' | 'answered', status?: number) => ({
  method: 'PUT',
  pathTemplate: '/platform/api/groups/{groupId}',
  sent,
  status,
  retryAfterMs: 7,
});

it.each<[errors.PlatformError, kind: string, happened: boolean]>([
  [new errors.UnauthorizedError('', facts('answered', 401)), 'unauthorized', false],
  [new errors.InvalidGrantError('', facts('answered', 400)), 'unauthorized', false],
  [new errors.ForbiddenError('', facts('answered', 403)), 'forbidden', false],
  [new errors.NotFoundError('', facts('answered', 404)), 'not_found', false],
  [new errors.ConflictError('', facts('answered', 409)), 'rejected', false],
  [new errors.BadRequestError('', facts('answered', 400)), 'rejected', false],
  [new errors.UnexpectedStatusError('', facts('answered', 418)), 'rejected', false],
  [new errors.InvalidRequestError('', facts('no')), 'rejected', false],
  [new errors.UnexpectedStatusError('', facts('answered', 410)), 'not_found', false],
  [new errors.UnexpectedStatusError('', facts('answered', 402)), 'forbidden', false],
  [new errors.RateLimitedError('', facts('answered', 429)), 'throttled', false],
  [new errors.ServerError('', facts('answered', 500)), 'unavailable', true],
  [new errors.UnexpectedBodyError('', facts('answered', 200)), 'unavailable', true],
  [new errors.ReportedError('', facts('answered', 200)), 'unavailable', true],
  [new errors.TimeoutError('', facts('maybe')), 'unanswered', true],
  [new errors.TimeoutError('', facts('answered', 408)), 'unanswered', true],
  [new errors.NetworkError('', facts('maybe')), 'unanswered', true],
  [new errors.NetworkError('', facts('no')), 'unreached', false],
  [new errors.TimeoutError('', facts('no')), 'unreached', false],
  [new errors.ServerError('', facts('no', 503)), 'unreached', false],
  [new errors.AbortedError('', facts('maybe')), 'unanswered', true],
])('the error $name becomes a failure of the kind %s', (error, kind, mayHaveHappened) => {
  const failure = failureOf(error, 'v1');
  expect(failure.kind).toBe(kind);
  expect(failure.call).toBe('change');
  expect(meaningOf(failure, failure.call).happened).toBe(mayHaveHappened ? 'unknown' : 'no');
});

it('the failure contains status, retry time, secret version and cause of the error', () => {
  const cause = new errors.RateLimitedError('too many', facts('answered', 429));
  const failure = failureOf(cause, 'v1');
  expect(failure).toMatchObject({ status: 429, retryAfterMs: 7, secretVersion: 'v1', cause });
  expect(failure.message).toBe(cause.message);
});
