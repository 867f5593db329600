import { expect, it } from 'vitest';
import { failureOf, RateLimitedError } from '../../shared/platform/errors.ts';
import { createLogger, errorFields, loggable } from '../../shared/runtime/logger.ts';
import { StoreError } from '../../shared/sync/ports/store-errors.ts';

function logging(level: 'info' | 'warn' | 'error') {
  const lines: string[] = [];
  const clock = () => Date.UTC(2026, 10, 20);
  const logger = createLogger({ level, clock, write: (line) => void lines.push(line) });
  return { logger, read: () => lines.map((line): unknown => JSON.parse(line)) };
}

it('a log line is one JSON object with time, level, message, context and fields', () => {
  const { logger, read } = logging('info');
  logger
    .with({ requestId: 'r1' })
    .with({ connection: 'acme' })
    .warn('applied', { group: 'g\n1', writes: ['put'] });
  expect(read()).toEqual([
    {
      time: '2026-11-20T00:00:00.000Z',
      level: 'warn',
      message: 'applied',
      requestId: 'r1',
      connection: 'acme',
      group: 'g\n1',
      writes: ['put'],
    },
  ]);
});

it('a log line contains a pseudonym for each e-mail address, also inside an id', () => {
  const { logger, read } = logging('info');
  const fields = {
    group: 'eng@acme.test',
    ids: ['eng@acme.test', 'g1'],
    error: ['StoreError: no (a@b.c), eng'],
  };
  logger.with({ member: 'ann@acme.test' }).info('applied', fields);
  const [line] = read() as [typeof fields];
  expect(JSON.stringify(line)).not.toContain('@');
  expect(line.ids).toEqual([line.group, 'g1']);
  expect(line.group).toBe('address-94cc846de04d');
  expect(line.error[0]).toMatch(/^StoreError: no \(address-[0-9a-f]{12}\), eng$/);
});

it('a log line below the configured level is not written', () => {
  const { logger, read } = logging('warn');
  for (const level of ['info', 'warn', 'error'] as const) logger[level](level);
  expect(read()).toMatchObject([{ level: 'warn' }, { level: 'error' }]);
});

it('an error of groupsync is logged with the names and messages of its causes, without text of the platform', () => {
  const facts = { method: 'GET', pathTemplate: '/groups', sent: 'answered', status: 429 } as const;
  const cause = failureOf(new RateLimitedError('no', { ...facts, excerpt: 'Ann Lee is busy' }), 'v1');
  expect(cause.message).toContain('Ann Lee is busy');
  const error = new StoreError('the table could not be read', { cause });
  const said = 'PlatformFailure: GET /groups answered 429: no';
  const chain = ['StoreError: the table could not be read', said, 'RateLimitedError'];
  const { logger, read } = logging('info');
  logger.info('ran', { report: { lastFailure: { message: cause.message } }, ...errorFields(error) });
  const report = { lastFailure: { message: 'GET /groups answered 429: no' } };
  expect(read()).toMatchObject([{ report, error: chain }]);
  expect(loggable(error).message).toBe(chain.join(', because of '));
});

it('an error of a library is logged with its name, without its message', () => {
  const library = new TypeError('cannot read ann@acme.test');
  const sdk = Object.assign(new Error('token abc is invalid'), { name: 'UnrecognizedClientException' });
  expect(errorFields(new StoreError('the table could not be written', { cause: sdk }))).toEqual({
    error: ['StoreError: the table could not be written', 'UnrecognizedClientException'],
  });
  expect(errorFields(library)).toEqual({ error: ['TypeError'] });
});

it('a thrown value that is not an error is logged without its content', () => {
  expect(JSON.stringify(errorFields({ email: 'ann@acme.test' }))).not.toContain('ann');
  expect(JSON.stringify(errorFields('ann@acme.test'))).not.toContain('ann');
});

it('an error with circular causes is logged once', () => {
  const error = new Error('round');
  error.cause = error;
  expect((errorFields(error)['error'] as readonly string[]).length).toBeLessThan(10);
});
