import { expect, it } from 'vitest';
import { parseSettings } from '../../shared/contract/change-setting.ts';
import { FUNCTION_KEYS, QUEUE_KEYS, queueName, SCHEDULE_KEYS } from '../../shared/contract/names.ts';
import { QUEUES, TABLE } from '../../shared/contract/topology.ts';
import { fixOfStep } from '../../shared/directory/operate/guides/index.ts';
import { type ConnectionName, connectionName, groupId } from '../../shared/domain/ids.ts';
import { TASKS } from '../../shared/domain/task.ts';
import { wait } from '../../shared/operate/doctor/check.ts';
import { checkCredential } from '../../shared/operate/doctor/credential.ts';
import { examine } from '../../shared/operate/doctor/doctor.ts';
import { rejectHold } from '../../shared/operate/holds.ts';
import { createToken } from '../../shared/scim/tokens/tokens.ts';
import { leaseKey } from '../../shared/store/keys.ts';
import { createLeases } from '../../shared/store/leases.ts';
import type { Deployment, QueueFacts } from '../../shared/sync/ports/deployment.ts';
import { ANSWER_PREFIX, type Applicant, PlatformFailure } from '../../shared/sync/ports/platform.ts';
import { underLease } from '../../shared/sync/under-lease.ts';
import { added, applicantOf, group, inSync, NOW_MS, removed } from '../support/operate/world.ts';

const PREFIX = 'groupsync';
const DAY_MS = 86_400_000;
const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555';

const GOOGLE = { kind: 'google', administrator: 'admin@acme.test' } as const;
const STOPPED =
  /^default: source directory: stopped since 2026-11-20T10:00:00.000Z: no right fix: .*"A source or reader late or stopped".* groupsync directory read$/;

function soundDeployment(): Deployment {
  return {
    region: 'eu-west-1',
    allowsLoopback: false,
    account: async () => '111122223333',
    queue: async (key): Promise<QueueFacts> => ({
      url: `https://sqs/${key}`,
      visible: 0,
      inFlight: 0,
      delayed: 0,
      key: KEY,
      redrivesTo: QUEUES[key].redrive && queueName(PREFIX, QUEUES[key].redrive.to),
    }),
    table: async () => {
      const { index, timeToLive } = TABLE;
      const encryption = { keyArn: KEY, isUnusable: false };
      return { active: true, indexes: [index.name], timeToLive, recoverable: true, encryption };
    },
    function: async (key) => ({
      state: 'Active',
      eventSource: key === 'ingest' || key === 'apply' ? 'Enabled' : undefined,
    }),
    executions: async () => ({ limit: 1_000, unreserved: 980 }),
    alarms: { subscriptionsOf: async () => ['arn:aws:sns:x', 'PendingConfirmation'] },
    schedule: async () => ({ enabled: true, expression: 'rate(1 minute)' }),
    scim: async () => undefined,
    statusOf: async () => 401,
  };
}

/** Minutes. */
const INTERVALS = { people: 60, feed: 5, sweep: 60, directory: 5 };

/** Creates a world in which doctor finds no problem. Then a test breaks one part of the world. */
async function soundWorld() {
  const world = await inSync(['ann']);
  const ports = { leases: createLeases(world.table), clock: () => world.clock.ms };
  const connection = world.connection.name;
  for (const task of TASKS)
    await underLease({ connection, task, everyMinutes: INTERVALS[task] }, ports, async () => {});
  const parts = { deployment: soundDeployment(), applicant: applicantOf('company') };
  const ask = (connection?: ConnectionName) =>
    examine(
      { prefix: PREFIX, connection },
      {
        ...world.ports,
        deployment: parts.deployment,
        checkCredential: (connection) => {
          const applicants = { stored: async () => parts.applicant };
          return checkCredential(connection, { ...world.ports, applicants });
        },
      },
    );
  return { ...world, parts, ask };
}
type Sound = Awaited<ReturnType<typeof soundWorld>>;

const lacking =
  <Key>(missing: Key, ask: (key: Key) => Promise<unknown>) =>
  async (key: Key) =>
    key === missing ? undefined : ask(key);

it('doctor checks every part, and finds no problem in a correct deployment', async () => {
  const world = await soundWorld();
  await world.hire('bea');
  await world.leaves('bea');
  await world.deliver('g', added('g', 'bea'));
  await world.publish(group('g', 'Waits'));
  world.clock.ms += 15 * 60_000;
  const { checks } = await world.ask();
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  const detail = '1 confirmed, 1 to be confirmed';
  expect(checks).toContainEqual(expect.objectContaining({ name: 'alarm target', detail }));
  const names = checks.map(({ name }) => name).join('\n');
  for (const key of QUEUE_KEYS) expect(names).toContain(`queue ${key}`);
  for (const key of FUNCTION_KEYS) expect(names).toContain(`function ${key}`);
  for (const key of SCHEDULE_KEYS) expect(names).toContain(`schedule ${key}`);
});

it.each(['CredentialsProviderError', 'ExpiredTokenException'])(
  'doctor reports missing or expired AWS credentials once (%s), and runs no other check',
  async (name) => {
    const world = await soundWorld();
    const refused = async (): Promise<never> => {
      throw Object.assign(new Error('no credentials'), { name });
    };
    const { deployment } = world.parts;
    world.parts.deployment = { ...deployment, account: refused, queue: refused, table: refused };
    const { checks } = await world.ask();
    expect(checks).toMatchObject([{ name: 'account', ok: false, fix: expect.stringContaining('--profile') }]);
  },
);

const deployed = (change: (sound: Deployment) => Partial<Deployment>) => async (world: Sound) => {
  world.parts.deployment = { ...world.parts.deployment, ...change(world.parts.deployment) };
};
const queue = (key: string, facts: Partial<QueueFacts>) =>
  deployed((sound) => ({
    queue: async (asked) => ({
      ...((await sound.queue(asked)) as QueueFacts),
      ...(asked === key ? facts : {}),
    }),
  }));
const applicant = (change: Partial<Applicant>) => async (world: Sound) => {
  world.parts.applicant = { ...world.parts.applicant, ...change };
};
const table = (change: object) =>
  deployed((sound) => ({ table: async () => ({ ...(await sound.table()), ...change }) as never }));
const provisioned = (people: readonly ReadonlyMap<string, string>[]) =>
  applicant({
    employees: async function* () {
      yield people;
    },
  });
const failing = async (): Promise<never> => {
  throw new Error('it said no');
};
const served = (change: Partial<Deployment>) =>
  deployed(() => ({
    scim: async () => ({ state: 'Active', url: 'https://scim.test/scim/v2', reserved: 20 }),
    ...change,
  }));
const gate =
  (state: 'paused' | 'unauthorized' | 'backoff') =>
  async ({ ports, connection }: Sound) => {
    const seen = await ports.gates.read(connection.name);
    await ports.gates.write(connection.name, seen, { state, reason: 'because', closings: 1 });
  };
const callsFail =
  (reason: string) =>
  async ({ ports, connection, clock: { ms } }: Sound) => {
    const seen = await ports.gates.read(connection.name);
    const counts = { total: 8, failed: 2, sinceMs: ms - 60_000, lastFailedMs: ms };
    const failingCalls = [{ endpoint: 'PATCH /x', ...counts, reason }];
    await ports.gates.write(connection.name, seen, { ...seen, failingCalls });
  };
const read =
  (found: { shortGroups: number; stopped?: { sinceMs: number; reason: string } }) =>
  async ({ ports, connection }: Sound) => {
    const settings = { ...connection.settings, directory: GOOGLE };
    await ports.connections.save({ ...connection, settings });
    await ports.sources.noteReader(connection.name, found);
  };
const without = (part: 'queue' | 'function' | 'schedule', key: string) =>
  deployed((sound) => ({ [part]: lacking(key, sound[part] as never) }));
const subscribed = (...found: readonly string[]) =>
  deployed(({ alarms }) => ({ alarms: { ...alarms, subscriptionsOf: async () => found } as never }));
const faults = async (world: Sound) => (await world.ask()).checks.filter(({ ok }) => !ok);

it.each<[says: RegExp, breaks: (world: Sound) => Promise<unknown>]>([
  [/^queue apply: .*no queue groupsync-apply.* fix: .*region/, without('queue', 'apply')],
  [
    /^redrive events: .*no dead-letter queue.* fix: .*groupsync-events-dlq/,
    queue('events', { redrivesTo: undefined }),
  ],
  [/^dead letters events: .*3 messages.* fix: .*dlq list --queue events/, queue('eventsDlq', { visible: 3 })],
  [/^account: .*it said no.* fix: .*credentials/, deployed(() => ({ account: failing }))],
  [/^table: .*no table groupsync-state.* fix: .*prefix/, deployed(() => ({ table: async () => undefined }))],
  [/^table time to live: .*off.* fix: .*expiresAt/, table({ timeToLive: undefined })],
  [/^table index: .*no index.* fix: .*due/, table({ indexes: [] })],
  [
    /^table key: .*key of AWS.* fix: .*update-table/,
    table({ encryption: { keyArn: undefined, isUnusable: false } }),
  ],
  [
    /^table key: .*uses arn:aws:kms:other\/2, and the queues use .* fix: .*update-table/,
    table({ encryption: { keyArn: 'arn:aws:kms:other/2', isUnusable: false } }),
  ],
  [
    /^table key: DynamoDB cannot use the key.* fix: .*7 days/,
    table({ encryption: { keyArn: KEY, isUnusable: true } }),
  ],
  [
    /^function apply: groupsync-apply has a reserved concurrency of 0.* fix: .*delete-function-concurrency/,
    deployed((sound) => ({
      function: async (key) => ({
        state: 'Active',
        eventSource: (await sound.function(key))?.eventSource,
        ...(key === 'apply' && { reserved: 0 }),
      }),
    })),
  ],
  [
    /^scim: groupsync-scim has a reserved concurrency of 0.* fix: .*delete-function-concurrency/,
    served({ scim: async () => ({ state: 'Active', url: undefined, reserved: 0 }) }),
  ],
  [
    /^scim executions: SCIM requests can use all 1000 executions.* fix: set scimConcurrency/,
    served({ scim: async () => ({ state: 'Active', url: undefined }) }),
  ],
  [
    /^scim executions: 20 are reserved for SCIM; 10 are left.* uses up to 1\d fix: lower scimConcurrency/,
    served({
      scim: async () => ({ state: 'Active', url: undefined, reserved: 20 }),
      executions: async () => ({ limit: 30, unreserved: 10 }),
    }),
  ],
  [/^alarm target: 0 confirmed, 0 to be confirmed.* fix: .*alarmEmail/, subscribed()],
  [/^alarm target: 0 confirmed, 1 to be confirmed.* fix: .*mail/, subscribed('PendingConfirmation')],
  [
    /^default: credential holder: the platform user user-ann; the employment ends on 2026-\d\d-\d\d fix: .*groupsync connect/,
    async (world) => {
      const lastDay = new Date(world.clock.ms + 9 * DAY_MS).toISOString().slice(0, 10);
      const holder = { user: 'user-ann', lastDay };
      await world.ports.health.write(world.connection.name, { goodAtMs: 1, holder });
    },
  ],
  [
    /^default: credential: GET \/platform\/api\/me: 401\. Contact the person who installed the app, .* the platform user is user-ann fix: /,
    async (world) => {
      const holder = { user: 'user-ann' };
      await world.ports.health.write(world.connection.name, { goodAtMs: 1, holder });
      const message = `GET /platform/api/me: 401${ANSWER_PREFIX}{"error":"cut…`;
      const refused = new PlatformFailure('unauthorized', message, {});
      await applicant({ me: () => Promise.reject(refused) })(world);
    },
  ],
  [/^table recovery: .*off.* fix: .*deploy/, table({ recoverable: false })],
  [/^function people: .*no function groupsync-people.* fix: .*region/, without('function', 'people')],
  [
    /^event source apply: .*Disabled.* fix: .*enable/,
    deployed(() => ({
      function: async (key) => ({ state: 'Active', eventSource: key === 'apply' ? 'Disabled' : undefined }),
    })),
  ],
  [
    /^schedule pump: .*switched off.* fix: .*enable.*--revert-drift/,
    deployed(() => ({
      schedule: async (key) => ({ enabled: key !== 'pump', expression: 'rate(1 minute)' }),
    })),
  ],
  [/^schedule sweep: .*no schedule.* fix: .*deploy/, without('schedule', 'sweep')],
  [
    /^connections: .*no connection.* fix: .*groupsync connect/,
    async ({ ports, connection }) => ports.connections.remove(connection.name),
  ],
  [/^default: credential: .*it said no.* fix: .*groupsync connect default/, applicant({ me: failing })],
  [
    /^default: company: .*other.* fix: .*token of that company/,
    applicant({ me: async () => ({ company: 'other', id: 'me' }) }),
  ],
  [/^default: groups permission: .*it said no.* fix: .*permissions/, applicant({ groups: failing })],
  [
    /^default: field workEmail: .*lacks the scope.* fix: .*enable the scope that shows workEmail/,
    provisioned([new Map([['userId', 'u']])]),
  ],
  [/^default: employee fields: .*no employee.* fix: .*provision/, provisioned([])],
  [/^default: gate: .*unauthorized.*because.* fix: .*groupsync connect default/, gate('unauthorized')],
  [/^default: gate: .*paused.* fix: .*groupsync resume/, gate('paused')],
  [
    /^default: group by id: .*503.* fix: wait/,
    async ({ platform }) => {
      platform.failing = (kind) => (kind === 'get' ? 503 : undefined);
    },
  ],
  [
    /^default: platform calls: PATCH \/x: 2 of 8 calls \(25 %\) failed since .*the last with 503 fix: wait/,
    callsFail('503'),
  ],
  [
    /^default: platform calls: PATCH \/x: 2 of 8 calls .*the last with 401 fix: groupsync connect default$/,
    async (world) => {
      await gate('unauthorized')(world);
      await callsFail('401')(world);
    },
  ],
  [
    /^default: observing: .*writes nothing.* fix: .*resume/,
    async ({ ports, connection }) => ports.connections.save({ ...connection, observing: true }),
  ],
  [
    /^default: task sweep: has not ended yet; waits for its next run fix: groupsync reconcile --sweep$/,
    async ({ ports, table, connection }) => {
      await ports.connections.save({ ...connection, connectedMs: 0 });
      await table.delete(leaseKey(connection.name, 'sweep'));
    },
  ],
  [
    /^default: task feed: ended 60 min ago; waits for its next run fix: groupsync reconcile$/,
    async ({ clock }) => Object.assign(clock, { ms: clock.ms + 3_600_000 }),
  ],
  [
    /^default: unmatched members: .*2 of 3.* fix: .*match/,
    async (world) => {
      await world.deliver('g', added('g', 'x', 'y'));
    },
  ],
  [
    /^default: backlog: .*60 min.* fix: .*--state dirty/,
    async (world) => {
      await world.publish(group('late'));
      world.clock.ms += 3_600_000;
    },
  ],
  [
    /^default: failed groups: .*1 of 2.* fix: .*--state failed/,
    async (world) => {
      await world.publish(group('bad'));
      const state = await world.ports.groups.read(world.refOf('bad'));
      await world.ports.groups.fail(state as never, { code: 'x', message: 'y', atMs: 1, reported: '' }, 'a');
    },
  ],
  [STOPPED, read({ shortGroups: 2, stopped: { sinceMs: NOW_MS, reason: 'no right' } })],
  [
    /^default: source directory: .*2 groups cannot be read completely fix: .*directory groups$/,
    read({ shortGroups: 2 }),
  ],
  [
    /^default: directory: .*reads no directory, so no source changes 1 group of the reader: g fix: .*takeover --to scim$/,
    ({ ports, connection }) => {
      const known = { group: groupId('g'), address: 'g@acme.test', dueMs: 0 };
      return ports.reader.putGroup(connection.name, known, { name: 'directory', token: 1 });
    },
  ],
  [
    /^scim token: .*no connection has a token.* fix: .*groupsync --connection default scim token create/,
    served({}),
  ],
  [
    /^default: scim tokens: .*all have expired.* fix: .*scim token create/,
    async (world) => {
      await served({})(world);
      await createToken(world.connection.name, world.ports, { expiresMs: world.clock.ms + 1 });
      world.clock.ms += 2;
    },
  ],
  [
    /^default: scim tokens: .*the last for 9 days.* fix: .*then revoke the old one/,
    async (world) => {
      await served({})(world);
      await createToken(world.connection.name, world.ports, { expiresMs: world.clock.ms + 9 * DAY_MS });
    },
  ],
  [
    /^scim url: .*scim\.test\/scim\/v2 answers 503.* fix: .*runbook.*"SCIM"/,
    served({ statusOf: async () => 503 }),
  ],
  [/^scim url: .*does not answer: it said no.* fix: .*network/, served({ statusOf: failing })],
  [
    /^scim: .*no SCIM server.* fix: .*deploy/,
    async ({ connection, ports }) => createToken(connection.name, ports),
  ],
])('doctor reports the problem and its fix: %s', async (says, breaks) => {
  const world = await soundWorld();
  await breaks(world);
  const told = (await faults(world)).map(
    ({ name, detail, fix }) => `${name}: ${detail} fix: ${fix?.replace('\n', ' ')}`,
  );
  expect(told).toContainEqual(expect.stringMatching(says));
});

const UNTIL_MS = Date.UTC(2026, 10, 20, 11, 30);
const failed = (kind: PlatformFailure['kind'], detail: { retryAfterMs?: number } = {}) =>
  new PlatformFailure(kind, `GET /platform/api/me: ${kind}`, detail);
const outage = async (failure: PlatformFailure, world: Sound) => {
  const fails = () => Promise.reject(failure);
  await applicant({ me: fails, groups: fails })(world);
};

it.each(['unavailable', 'throttled', 'unanswered', 'unreached'] as const)(
  'doctor advises to wait until the gate opens, and not to replace the credential, if calls fail as %s',
  async (kind) => {
    const world = await soundWorld();
    const { ports, connection } = world;
    await outage(failed(kind), world);
    const seen = await ports.gates.read(connection.name);
    const closed = {
      state: 'backoff',
      reason: 'it answers 503',
      untilMs: UNTIL_MS,
      closings: 3,
    } as const;
    await ports.gates.write(connection.name, seen, closed);
    const lastFailure = { atMs: world.clock.ms - 1, message: 'it answers 503' };
    await ports.health.write(connection.name, { lastFailure });
    const found = await faults(world);
    expect(found.map(({ name }) => name).sort()).toEqual(
      ['daily check', 'credential', 'gate'].map((name) => `default: ${name}`).sort(),
    );
    for (const { fix } of found) {
      expect(fix).toMatch(/^wait until 2026-11-20T11:30:00\.000Z/);
      expect(fix).not.toMatch(/connect|credential/);
    }
    expect(wait(UNTIL_MS, UNTIL_MS)).toMatch(/^wait a few minutes/);
  },
);

const onlyGroupsFail = (failure: PlatformFailure, world: Sound) =>
  applicant({ groups: () => Promise.reject(failure) })(world);
it.each([
  [
    'to wait until the end of Retry-After if the gate is still open',
    outage,
    failed('throttled', { retryAfterMs: 90_000 }),
    'credential',
    /wait until 2026-11-20T10:01:30\.000Z/,
  ],
  [
    'to wait if only the list of groups does not answer',
    onlyGroupsFail,
    failed('unanswered'),
    'groups permission',
    /^wait a few minutes/,
  ],
  [
    'to add the permission if the platform answers 403',
    outage,
    failed('forbidden'),
    'credential',
    /permission/,
  ],
] as const)('doctor advises %s', async (_, breaks, failure, part, fix) => {
  const world = await soundWorld();
  await breaks(failure, world);
  expect(await faults(world)).toMatchObject([{ name: `default: ${part}`, fix: expect.stringMatching(fix) }]);
});

it.each([
  ['entra', 'web identity', 'OutboundWebIdentityFederationDisabled', 'the AWS account issues no tokens'],
  ['entra', 'groups', 'BadRequest', 'match or people.exclude names a custom attribute'],
  ['entra', 'token exchange', 'AADSTS7000222', 'the client secret has expired'],
  ['google', 'token exchange', null, 'the provider must exist under this name'],
  ['google', 'signature', null, 'workload identity user and token creator'],
  ['okta', 'signature', null, 'must be an enabled RSA key'],
  ['okta', 'token exchange', 'invalid_client', 'Okta must have an active application'],
])(
  'doctor advises how to correct the directory %s if the step %s fails with %s',
  (kind, step, reason, fix) => {
    const setting = { kind, federation: { provider: '//iam/p' } } as never;
    expect(fixOfStep({ step, reason } as never, setting, 'default')).toContain(fix);
  },
);

it('doctor advises to connect again if the platform refuses the credential, now and in the daily check', async () => {
  const world = await soundWorld();
  await outage(failed('unauthorized'), world);
  const lastFailure = { atMs: world.clock.ms - 1, message: 'it answers 401' };
  await world.ports.health.write(world.connection.name, { lastFailure });
  expect(await faults(world)).toMatchObject([
    { name: 'default: credential', fix: 'groupsync connect default' },
    { name: 'default: daily check', fix: 'groupsync connect default' },
  ]);
});

it('doctor does not report a failed daily check as a problem if the credential is accepted now', async () => {
  const world = await soundWorld();
  const lastFailure = { atMs: world.clock.ms - 60_000, message: 'it answers 503' };
  await world.ports.health.write(world.connection.name, { lastFailure });
  const { checks } = await world.ask();
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(checks).toContainEqual({
    name: 'default: daily check',
    ok: true,
    detail: 'failed 60 s ago: it answers 503; the credential is accepted now',
    fix: null,
  });
});

it.each([
  ['without earlier runs', 'has not ended yet'],
  ['after a removal', 'ended 3 h ago'],
])(
  'doctor expects the first run of each task 15 minutes after a connection was made %s',
  async (how, ended) => {
    const { ask, clock, connection, ports, table } = await soundWorld();
    if (how === 'without earlier runs') await table.delete(leaseKey(connection.name, 'feed'));
    clock.ms += 3 * 3_600_000;
    await ports.connections.save({ ...connection, connectedMs: clock.ms });
    const feed = async () => (await ask()).checks.find(({ name }) => name === 'default: task feed');
    expect(await feed()).toMatchObject({ ok: true, detail: `${ended}; waits for its next run` });
    clock.ms += 15 * 60_000 + 1;
    expect(await feed()).toMatchObject({ ok: false });
  },
);

it('doctor reports a hold that waits for a decision as a problem, and does not report a rejected hold', async () => {
  const world = await soundWorld();
  const members = ['bea', 'cid', 'dora', 'emil', 'finn'];
  await world.hire(...members);
  await world.deliver('g', added('g', ...members));
  await world.deliver('g', removed('g', ...members));
  const holds = async () => (await world.ask()).checks.find(({ name }) => name === 'default: holds');
  expect(await holds()).toMatchObject({ ok: false, detail: '1 group waits for a decision' });
  await rejectHold(world.refOf('g'), { reason: 'they stay' }, world.ports);
  await world.apply('g');
  expect(await holds()).toEqual({
    name: 'default: holds',
    ok: true,
    detail: '0 groups wait for a decision; 1 rejected by an operator',
    fix: null,
  });
});

it('doctor finds no problem in a SCIM server with a valid token, and sends the server one request', async () => {
  const world = await soundWorld();
  const asked: string[] = [];
  await served({
    statusOf: async (url) => {
      asked.push(url);
      return 401;
    },
  })(world);
  await createToken(world.connection.name, world.ports);
  const { checks } = await world.ask();
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  expect(checks.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['scim', 'scim url', 'default: scim tokens']),
  );
  expect(asked).toEqual(['https://scim.test/scim/v2/ServiceProviderConfig']);
});

it('doctor in the console checks only one connection, and says who can check the deployment', async () => {
  const world = await soundWorld();
  await world.ports.connections.save({ ...world.connection, name: connectionName('other') });
  await createToken(connectionName('other'), world.ports);
  const read: PropertyKey[] = [];
  const { statusOf } = soundDeployment();
  const scim = async () => ({ state: undefined, url: 'https://scim.test/scim/v2' });
  const allowed = { isConsole: true, allowsLoopback: false, scim, statusOf };
  const get = (_: object, name: keyof typeof allowed) => {
    read.push(name);
    return allowed[name];
  };
  world.parts.deployment = new Proxy({} as Deployment, { get: get as never });
  const setting = { kind: 'google', administrator: 'admin@acme.test' };
  const settings = parseSettings({ baseUrl: 'https://platform.test', directory: setting });
  await world.ports.connections.save({ ...world.connection, settings });
  const { checks } = await world.ask(world.connection.name);
  const names = checks.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['default: secret', 'default: company', 'default: task feed', 'scim url']),
  );
  const left = (name: string, parts: string) => {
    const detail = `only a person with AWS credentials can check ${parts}, with groupsync doctor`;
    return { name, ok: true, notRun: true, detail, fix: null };
  };
  expect(checks.filter(({ notRun }) => notRun)).toEqual([
    left('deployment', 'queues, table, functions, alarms and schedules'),
    left('default: directory', 'each step of reading the directory'),
  ]);
  expect(JSON.stringify(checks)).not.toContain('other');
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([{ name: 'scim token' }]);
  expect([...new Set(read)].filter((name) => !(name in allowed))).toEqual([]);
});
