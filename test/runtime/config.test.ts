import { expect, it } from 'vitest';
import { ConfigError, readConfig, required } from '../../shared/runtime/config.ts';

const caught = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

it('readConfig has a default for every optional variable', () => {
  expect(readConfig({})).toEqual({
    prefix: 'groupsync',
    tableName: 'groupsync-state',
    boundQueues: new Map(),
    coalesceMs: 5_000,
    createSettleMs: 600_000,
    logLevel: 'info',
    notify: [],
    region: '',
    scimAllowedIps: [],
    persons: {},
    isDeployed: false,
    isEmulated: false,
    queueUrls: { apply: undefined, eventsDlq: undefined, applyDlq: undefined },
  });
});

it('the table is named after the prefix if no table name is set', () => {
  expect(readConfig({ GROUPSYNC_PREFIX: 'stage' }).tableName).toBe('stage-state');
  expect(readConfig({ GROUPSYNC_PREFIX: 'stage', GROUPSYNC_TABLE: 'other' }).tableName).toBe('other');
});

it('readConfig accepts a coalescing window of zero seconds', () => {
  expect(readConfig({ GROUPSYNC_COALESCE_SECONDS: '0' }).coalesceMs).toBe(0);
});

it.each([
  ['GROUPSYNC_COALESCE_SECONDS', '899'],
  ['GROUPSYNC_COALESCE_SECONDS', '-1'],
  ['GROUPSYNC_COALESCE_SECONDS', '1.5'],
  ['GROUPSYNC_COALESCE_SECONDS', 'soon'],
  ['GROUPSYNC_APPLY_QUEUE_URL', 'apply.fifo'],
  ['GROUPSYNC_LOG_LEVEL', 'loud'],
  ['GROUPSYNC_PREFIX', ''],
])('readConfig refuses %s=%s, and its error names the variable and the value', (name, value) => {
  const error = caught(() => readConfig({ [name]: value }));
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toContain(`${name}: `);
  expect((error as Error).message).toContain(JSON.stringify(value));
});

it('a missing value is an error only if the function needs the value', () => {
  expect(required('x', 'GROUPSYNC_APPLY_QUEUE_URL')).toBe('x');
  const error = caught(() => required(undefined, 'GROUPSYNC_APPLY_QUEUE_URL'));
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as Error).message).toContain('GROUPSYNC_APPLY_QUEUE_URL');
});
