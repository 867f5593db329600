import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { LocalFile } from '../../local/local-file.ts';
import { parseOptions, type StartOptions } from '../../local/options.ts';
import { type RunDependencies, runLocal } from '../../local/run.ts';
import { UsageError } from '../../local/usage.ts';
import { ENVIRONMENT } from '../../shared/contract/names.ts';
import { temporaryFolder } from '../support/folder.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { fakeParts, WORLD } from './support/parts.ts';
import { CREDENTIALS } from './support/queue.ts';

vi.spyOn(process.stderr, 'write').mockImplementation(() => true);

const until = (isTrue: () => boolean) => vi.waitUntil(isTrue, { timeout: PATIENCE_MS, interval: 5 });

function folder() {
  const path = temporaryFolder();
  const write = (name: string, text: string) => {
    writeFileSync(join(path, name), text);
    return join(path, name);
  };
  return { path, write, world: write('world.json', JSON.stringify(WORLD)), file: join(path, 'local.json') };
}

const options = (...args: string[]) => parseOptions(args) as StartOptions;

/** Returns the arguments of a run with one event. */
const ofOne = (...args: string[]) => {
  const { world, write, file } = folder();
  return ['--events', write('events.jsonl', 'a\n'), '--world', world, '--local-file', file, ...args];
};

function run(args: string[], fake = fakeParts(), startConsole?: RunDependencies['startConsole']) {
  const stopping = new AbortController();
  const printed: string[] = [];
  const exit = runLocal(options(...args), {
    loadParts: fake.loadParts,
    signal: stopping.signal,
    takeOutput: () => ({ print: (text) => void printed.push(text) }),
    ...(startConsole && { startConsole }),
  });
  return { exit, printed, stop: () => stopping.abort(), ...fake };
}

it('npm start --once --json publishes the events, waits until they are applied, and prints one JSON document', async () => {
  const { world, write, file } = folder();
  const events = write('events.jsonl', '{"id":"a"}\n\n  \nnot json\n');
  const args = ['--once', '--json', '--world', world, '--events', events, '--local-file', file];
  const { exit, printed } = run(args);
  expect(await exit).toBe(0);
  expect(printed).toHaveLength(1);
  const document = JSON.parse(printed[0] ?? '');
  expect(document).toMatchObject({ converged: true, elapsedMs: expect.any(Number) });
  expect(document.groups.map(({ id }: { id: string }) => id).sort()).toEqual(['not json', '{"id":"a"}']);
  expect(document.endpoints).toMatchObject({
    region: 'us-east-1',
    eventsQueueUrl: `${document.endpoints.sqs}/000000000000/groupsync-events`,
  });
  expect(printed[0]).not.toContain('app-token');
});

it('npm start reads the people and wakes dirty groups before it processes events', async () => {
  const { exit, calls, printed } = run(ofOne('--once'));
  await exit;
  expect(calls.slice(0, 4)).toEqual([
    'connection default of c1',
    'leases',
    'people',
    'reconcile {"task":"pump","all":true}',
  ]);
  expect(calls).toContain('ingest');
  expect(printed.join('')).toContain('Group a');
});

it('npm start --once ends coalescing windows as soon as all events are ingested', async () => {
  const ingest = async () => {
    const QueueUrl = process.env[ENVIRONMENT.applyQueueUrl];
    await new SQSClient({}).send(
      new SendMessageCommand({ QueueUrl, MessageBody: 'late', DelaySeconds: 900 }),
    );
  };
  expect(await run(ofOne('--once', '--timeout', '240'), fakeParts({ ingest })).exit).toBe(0);
});

it.each([
  ['30 seconds', undefined, '30'],
  ['the value of the environment variable', '2', '2'],
])('the coalescing window of a run with --once is %s', async (_, given, expected) => {
  vi.stubEnv(ENVIRONMENT.coalesceSeconds, given);
  onTestFinished(() => void vi.unstubAllEnvs());
  let seconds: string | undefined;
  const fake = fakeParts({
    ingest: () => {
      seconds = process.env[ENVIRONMENT.coalesceSeconds];
    },
  });
  expect(await run(ofOne('--once'), fake).exit).toBe(0);
  expect(seconds).toBe(expected);
});

it('npm start writes its local file at the start, and removes the file at the end', async () => {
  const { world, file } = folder();
  const { exit, printed, stop } = run(['--empty', '--world', world, '--local-file', file]);
  await until(() => printed.length === 1);
  const address = LocalFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  expect(address).toMatchObject({ pid: process.pid, platformToken: 'app-token', connection: 'default' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await fetch(`${address.platform}/_simulator/state`)).status).toBe(200);
  expect(printed[0]).toContain(address.eventsQueueUrl);

  const client = new SecretsManagerClient({ ...CREDENTIALS, endpoint: address.secretsManager });
  const secret = await client.send(new GetSecretValueCommand({ SecretId: 'groupsync/connections/default' }));
  expect(secret.SecretString).toBe('{"token":"app-token"}');

  stop();
  expect(await exit).toBe(0);
  expect(() => statSync(file)).toThrow();
  await expect(fetch(`${address.platform}/_simulator/state`)).rejects.toThrow();
});

it('a second npm start is refused, unless it uses --once or replaces a killed run, and the running stack keeps its file', async () => {
  const { path, world, file } = folder();
  const args = ['--empty', '--world', world, '--local-file', file];
  const first = run(args);
  await until(() => first.printed.length === 1);
  const written = readFileSync(file, 'utf8');
  expect(await run([...args, '--once']).exit).toBe(0);
  expect(readdirSync(path).filter((name) => name.startsWith('once-'))).toEqual([]);
  await expect(run(args).exit).rejects.toThrow(
    new UsageError(
      `${file}: in use by the stack of process ${process.pid}; stop it first, or use another file with --local-file`,
    ),
  );
  expect(readFileSync(file, 'utf8')).toBe(written);
  first.stop();
  await first.exit;
  expect(existsSync(file)).toBe(false);
  // The process id of the killed run is in use again.
  writeFileSync(file, written);
  expect(await run([...args, '--once']).exit).toBe(0);
  expect(existsSync(file)).toBe(false);
});

it('only one of two runs that start at the same time can use the local file', async () => {
  const { world, file } = folder();
  const runs = [1, 2].map(() => run(['--empty', '--world', world, '--local-file', file]));
  const refused = await Promise.race(runs.map(({ exit }) => exit.catch((caught: unknown) => caught)));
  expect(refused).toBeInstanceOf(UsageError);
  await until(() => runs.some(({ printed }) => printed.length === 1));
  const { platform } = LocalFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  expect((await fetch(`${platform}/_simulator/state`)).status).toBe(200);
  for (const { stop } of runs) stop();
  await Promise.allSettled(runs.map(({ exit }) => exit));
});

it('only one npm start at a time can use a data folder', async () => {
  const { world, path, file } = folder();
  const args = ['--empty', '--world', world, '--local-file', file, '--data', join(path, 'data')];
  const first = run(args);
  await until(() => first.printed.length === 1);
  const second = run([...args.slice(0, 4), `${file}2`, ...args.slice(5)]);
  await expect(second.exit).rejects.toThrow(`in use by process ${process.pid}`);
  first.stop();
  await first.exit;
  const third = run([...args, '--once']);
  expect(await third.exit).toBe(0);
});

it.each<[title: string, args: (at: ReturnType<typeof folder>) => string[], says: RegExp]>([
  ['missing events', () => ['--events', '/nowhere.jsonl'], /--events \/nowhere\.jsonl: .*no such file/],
  ['an events file that is a folder', ({ path }) => ['--events', path], /it is a folder/],
  ['a missing world file', () => ['--world', '/nowhere.json'], /--world \/nowhere\.json: .*no such file/],
  ['a world file that is not JSON', ({ write }) => ['--world', write('w', '{')], /--world .*JSON/],
  ['a world file of another form', ({ write }) => ['--world', write('w', '{}')], /--world .*companies/],
  [
    'a world without an OAuth application',
    ({ write }) => ['--world', write('w', JSON.stringify({ ...WORLD, credentials: [] }))],
    /credential of kind oauth_app/,
  ],
  ['an unknown setting', () => ['--setting', 'colour=1'], /--setting .*colour/],
  ['an invalid value of a setting', () => ['--setting', 'mode=maybe'], /--setting mode: expected/],
])('npm start refuses %s with an error of one line', async (_, args, says) => {
  const at = folder();
  const { exit } = run(['--local-file', at.file, ...args(at)]);
  const error = await exit.catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).toMatch(says);
  expect((error as Error).message).not.toContain('\n');
});
