import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Agent, MockAgent, request } from 'undici';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { openPlatform } from '../../local/open-platform.ts';
import { parseWorld } from '../../local/platform/state/world.ts';
import { AskInvocation } from '../../shared/contract/invocation.ts';
import * as hops from '../../shared/contract/recorded-hop.ts';
import { checkCredential } from '../../shared/operate/doctor/credential.ts';
import { answerPlatformQuestion } from '../../shared/operate/platform/answer.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import { createStoredApplicants } from '../../shared/platform/applicants.ts';
import { createPlatforms } from '../../shared/platform/platforms.ts';
import { recordable, recording } from '../../shared/runtime/recorder.ts';
import { createLeases } from '../../shared/store/leases.ts';
import { applyGroup } from '../../shared/sync/apply/apply.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { SECRET } from '../directory-simulator/entra/fixture.ts';
import { runCli } from '../support/cli/io.ts';
import { temporaryFolder } from '../support/folder.ts';
import { group, savedWorld } from '../support/operate/world.ts';
import { entraWorldOf, oktaWorldOf, worldOf } from './directory-fixture.ts';

const recordedHop = vi.spyOn(hops, 'recordedHop');
afterAll(() => recordedHop.mockRestore());
/** Returns the answers that were recorded: texts and headers. */
const answersOf = () => recordedHop.mock.calls.map(([answer]) => answer);

/** Returns all texts and numbers of a JSON value with at least four characters. */
function valuesOf(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(valuesOf);
  const text = String(value ?? '');
  return text.length < 4 || typeof value === 'boolean' ? [] : [text];
}

const ANN = { id: 'role-ann', userId: 'user-ann', name: 'Ann Archer', workEmail: 'ann@acme.test' };
const WORLD = parseWorld({
  companies: [{ id: 'company', name: 'Acme Incorporated', employees: [ANN], groups: [] }],
  credentials: [{ token: 'token-of-acme', kind: 'oauth_app', company: 'company' }],
});

/** Creates a connection with a linked group on a simulated platform, which the function `reconcile` calls over HTTP. */
async function overHttp() {
  const simulator = await openPlatform({ world: WORLD, dataFile: undefined, port: 0 });
  const dispatcher = recordable(new Agent());
  onTestFinished(async () => {
    await dispatcher.close();
    await simulator.close();
  });
  const saved = await savedWorld({ baseUrl: simulator.url });
  const calling = {
    secrets: {
      read: async () => ({ value: { token: 'token-of-acme' }, version: '1' }),
      write: () => Promise.reject(new Error('not in these tests')),
    },
    leases: createLeases(saved.table),
    dispatcher,
    publicOnly: false,
    clock: saved.ports.clock,
    random: () => 0.5,
    sleep: async () => {},
  };
  const asked = {
    platforms: createPlatforms(calling),
    health: saved.ports.health,
    checkCredential: (connection: Connection) =>
      checkCredential(connection, { ...saved.ports, applicants: createStoredApplicants(calling) }),
  };
  const functions: typeof saved.ports.functions = {
    async run(_, event) {
      const { connection, question, record } = AskInvocation.parse(event);
      const found = await requireConnection(connection, saved.ports);
      return recording(record, () => answerPlatformQuestion(found, question, asked));
    },
  };
  return { ...saved, ports: { ...saved.ports, functions, platforms: asked.platforms } };
}

const VENDORS = {
  google: async () => {
    const world = await worldOf(overHttp);
    await world.connect('--directory-url', world.google.url);
    return { ...world, hop: '/admin/directory/v1/groups/…/members' };
  },
  entra: async () => {
    const world = await entraWorldOf(overHttp);
    await world.connect(`${SECRET}\n`, '--secret-stdin');
    return { ...world, hop: '/v1.0/groups/…/members/microsoft.graph.user' };
  },
  okta: async () => {
    const saved = await overHttp();
    const world = await oktaWorldOf(async () => saved);
    await world.connectByKey();
    return { ...world, world: saved, hop: '/api/v1/groups/…/users' };
  },
};

it.each(Object.entries(VENDORS))(
  'doctor --record writes what the platform and the directory %s answered, without any value of an answer',
  async (vendor, open) => {
    const { run, hop, world } = await open();
    await world.publish(group('g-secret', 'Layoffs 2027'));
    await applyGroup(world.refOf('g-secret'), world.ports);
    const file = join(temporaryFolder(), 'record.json');
    recordedHop.mockClear();
    const { stderr, stdout } = await run('doctor', '--record', file);
    const answers = answersOf();
    const page = readFileSync(`docs/read-${vendor}.md`, 'utf8');
    const expected = page.match(/^ok .* directory [^:]*: works/gm) ?? [];
    expect(expected).toHaveLength(6);
    for (const line of expected) expect(stdout).toContain(line);
    const text = readFileSync(file, 'utf8');
    const { hops } = JSON.parse(text);
    expect(stderr).toContain(`${answers.length} answers recorded in ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const paths = hops.map(({ path }: { readonly path: string }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        '/platform/api/me',
        '/platform/api/groups',
        '/platform/api/groups/…',
        '/platform/api/employees/include_terminated',
        hop,
      ]),
    );
    expect(hops).toHaveLength(answers.length);
    const values = answers.flatMap(({ text: body }) => valuesOf(JSON.parse(body === '' ? 'null' : body)));
    expect(values.length).toBeGreaterThan(20);
    const shown = new Set(values.filter((value) => text.includes(value)));
    // The id of the company is also the name of a field, and `notFound` is the documented code of an error.
    expect([...shown].sort()).toEqual(['company', 'notFound'].filter((value) => shown.has(value)));
    for (const secret of ['ann', '@acme', '@example', 'Layoffs', 'token-of', 'eyJ', '127.0.0.1'])
      expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    const again = await run('doctor', '--record', file);
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringContaining(`a new file, but ${file} exists`),
    ]);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect((await run('doctor', '--record', join(file, 'x'))).code).toBe(2);
  },
);

it('the record has no text of an answer with more than 64 MiB', async () => {
  const agent = new MockAgent();
  const sizes = [1, 2 ** 26 + 1];
  for (const size of sizes)
    agent
      .get('http://platform.test')
      .intercept({ path: `/${size}` })
      .reply(200, gzipSync(Buffer.alloc(size)), { headers: { 'content-encoding': 'gzip' } });
  recordedHop.mockClear();
  const dispatcher = recordable(agent);
  await recording(true, async () => {
    for (const size of sizes) await request(`http://platform.test/${size}`, { dispatcher });
    return {};
  });
  expect(answersOf().map(({ text }) => text.length)).toEqual([1, 0]);
});

it('the record of a hostile answer has none of its words, and keeps documented error codes', () => {
  const deep = `${'{"value":['.repeat(10)}1${']}'.repeat(10)}`;
  const body = { 'Ann Archer': { ann: 'x' }, errorCode: 'E0000006', error: 'annArcher' };
  const hop = recordedHop({
    method: 'GET',
    path: '/api/v1/users/ann@acme.test?filter=mail%20eq%20ann&ann=1',
    tookMs: 1,
    status: 403,
    headers: { 'content-type': 'ann/archer', 'retry-after': '30', ann: 'ann', date: ['Ann', 'Archer'] },
    text: `[${JSON.stringify(body)},${deep}]`,
    error: undefined,
  });
  expect(JSON.stringify(hop)).not.toMatch(/ann|archer/i);
  expect(hop).toMatchObject({
    path: '/api/v1/users/…',
    query: ['filter', '…'],
    codes: ['E0000006'],
    headers: { 'content-type': ['text of 10 characters'], 'retry-after': ['30'] },
  });
  const page = recordedHop({ ...hop, headers: {}, text: '<html>', error: undefined });
  expect(page).toMatchObject({ characters: 6, fields: {} });
});

it.each([
  ['AADSTS7000215', { error: 'x', error_description: 'AADSTS7000215: Invalid client secret of Ann Archer' }],
  ['consent_required', { error: 'consent_required', error_description: 'Ann Archer' }],
  ['invalid_target', { error: 'invalid_target' }],
  ['accessNotConfigured', { error: { code: 403, errors: [{ reason: 'accessNotConfigured' }] } }],
])('the record of a refused sign-in has only the error code %s of its answer', (code, body) => {
  const text = JSON.stringify(body);
  const sent = { method: 'POST', path: '/token', tookMs: 1, status: 400, headers: {}, error: undefined };
  const hop = recordedHop({ ...sent, text });
  expect(hop.codes).toEqual([code]);
  expect(JSON.stringify(hop)).not.toMatch(/ann|archer/i);
});

it.each([
  ['20.19.0', '20.19.0 works; the AWS SDK requires Node 22 from January 2027; 22 or 24 is recommended'],
  ['22.12.0', '22.12.0'],
  ['24.1.0', '24.1.0'],
  ['26.0.0', '26.0.0 works; 22 or 24 is recommended'],
])('doctor on Node %s has one check of Node, with the detail: %s', async (nodeVersion, detail) => {
  const { ports } = await savedWorld();
  const { json } = await runCli(['doctor', '--json'], { ports, nodeVersion });
  const found = json.checks.filter(({ name }: { readonly name: string }) => name === 'node');
  expect(found).toEqual([{ name: 'node', ok: true, detail, fix: null }]);
});
