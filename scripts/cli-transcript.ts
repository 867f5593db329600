import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadParts } from '../local/load-parts.ts';
import { writeLocalFile } from '../local/local-file.ts';
import { openPlatform } from '../local/open-platform.ts';
import { startStack } from '../local/stack.ts';

/**
 * Writes docs/cli/transcript.md, which shows the real output of most commands. Each command runs in its own process
 * against a local stack. Run `npm run docs:transcript` after a change of the CLI.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = join(ROOT, 'cli/groupsync.mjs');
const PEOPLE = ['ann', 'bob', 'cid', 'dee', 'eve', 'fay'];
const TOKEN = 'an-example-token';
const WORLD = {
  companies: [
    {
      id: 'acme',
      name: 'Acme',
      employees: PEOPLE.map((name) => ({
        id: `role_${name}`,
        userId: `user_${name}`,
        name,
        workEmail: `${name}@acme.test`,
      })),
      groups: [{ id: 'old1', name: 'Sales', spokeId: null, users: ['user_ann'], version: 'v1' }],
    },
  ],
  credentials: [{ token: TOKEN, kind: 'oauth_app' as const, company: 'acme' }],
};

const CSV = [
  'group id,group name,member id,email',
  ...PEOPLE.map((name) => `00g1,Engineering,00u-${name},${name}@acme.test`),
  '00g2,Sales,00u-ann,ann@acme.test',
  '00g2,Sales,00u-zoe,zoe@acme.test',
].join('\n');

const AHEAD_MS = 120_000;
const event = (type: string, data: object, extra: object = {}) =>
  JSON.stringify({
    specversion: '1.0',
    id: `e-${type}-${JSON.stringify(data).length}`,
    source: 'okta/acme',
    type: `directory.${type}`,
    // The event time is two minutes in the future, so that the event is later than the import of an earlier step.
    time: new Date(Date.now() + AHEAD_MS).toISOString(),
    data,
    ...extra,
  });

const REMOVED = event('group.member.removed', {
  group: { id: '00g1' },
  members: PEOPLE.slice(0, 4).map((name) => ({ id: `00u-${name}` })),
});
const FOR_ANOTHER = ['00g7', '00g8', '00g9']
  .map((id) => event('group.upserted', { group: { id, name: 'Elsewhere' } }, { connection: 'later' }))
  .join('\n');

const EDITOR = `
import { readFileSync, writeFileSync } from 'node:fs';
const file = process.argv[2];
writeFileSync(file, readFileSync(file, 'utf8').replace('Elsewhere', 'Corrected'));
`;

/** A heading, a command, or a wait in milliseconds. */
type Step = string | { readonly run: string; readonly stdin?: string } | { readonly wait: number };

const STEPS: readonly Step[] = [
  '## Connect',
  { run: 'connect --token-stdin --yes', stdin: TOKEN },
  { run: 'connections' },
  { run: 'probe --yes' },
  { run: 'connections show default' },
  { run: 'connections set default guard.maxRemovedShare=0.4 --yes' },
  { run: 'people refresh' },
  '## Publish',
  { run: 'import members.csv --dry-run' },
  { run: 'import members.csv --yes' },
  { run: 'events validate events.jsonl' },
  { wait: 4_000 },
  '## Watch',
  { run: 'status' },
  { run: 'groups' },
  { run: 'status Engineering' },
  { run: 'members Sales' },
  { run: 'export Engineering' },
  { run: 'pending' },
  { run: 'explain Engineering ann@acme.test' },
  { run: 'explain 00g2 00u-zoe' },
  { run: 'reconcile' },
  { run: 'platform-groups' },
  { run: 'doctor' },
  '## Plan, sync, approve',
  { run: 'events send events.jsonl' },
  { wait: 3_000 },
  { run: 'plan' },
  { run: 'holds' },
  { run: 'holds approve 00g1 --reason "team dissolved, ticket 4711" --yes' },
  { run: 'sync 00g1 --yes' },
  { run: 'sync --all --yes' },
  { run: 'log --group 00g1 --details --limit 2' },
  '## Own and pause',
  { run: 'release 00g2 --yes' },
  { run: 'adopt 00g2 old1 --yes' },
  { run: 'rebind 00u-zoe role_fay --yes' },
  { run: 'pause 00g1 --yes' },
  { run: 'resume 00g1 --yes' },
  { run: 'pause --reason "platform maintenance" --yes' },
  { run: 'resume --yes' },
  { run: 'forget 00u-zoe --yes' },
  { run: 'audit --verify --all' },
  '## Dead-lettered messages',
  { run: 'events send deadLetters.jsonl' },
  { wait: 3_000 },
  { run: 'dlq list' },
  { run: 'dlq show DEAD_LETTER' },
  { run: 'dlq discard DEAD_LETTER --reason "a test" --yes' },
  { run: 'dlq list' },
  { run: 'dlq edit DEAD_LETTER --reason "its name was wrong" --yes' },
  { run: 'connect later --token-stdin --observe --yes', stdin: TOKEN },
  { run: 'dlq replay --code unknown_connection --yes' },
  { run: 'connections remove later --yes' },
  '## SCIM',
  { run: 'scim token create --expires 180d' },
  { run: 'scim token list' },
  { run: 'scim token revoke TOKEN --yes' },
  { run: 'scim client create' },
  { run: 'scim client rotate CLIENT' },
  { run: 'scim client list' },
  { run: 'scim client revoke CLIENT --yes' },
];

/** Replaces ids, tokens and times, because they differ in each run. An unchanged CLI then gives an unchanged page. */
function steady(text: string): string {
  return text
    .replace(/\b[0-9a-f]{12}\b/g, '7531a74bda49')
    .replace(/gsync_(scim|client)_[0-9a-f]{8}_[0-9a-f]{64}/g, 'gsync_$1_3f9a01bc_…')
    .replace(/(?<=│ |revoked? |rotate |client |client id: |dlq \w+ )[0-9a-f]{8}\b/g, '3f9a01bc')
    .replace(/(?<=│ )\d{4}-\d\d-\d\d(?= │)/g, '2027-05-19')
    .replace(
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      '5f3c2a10-0000-4000-8000-000000000001',
    )
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, '2026-11-20T10:00:00.000Z')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d(?![:\d])/g, '2026-11-27T10:00')
    .replace(/^(ok {3}node: ).+$/m, (_, label) => `${label}24.1.0`)
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
    .replace(/\b[0-9a-f]{32}\b/g, '0123456789abcdef0123456789abcdef')
    .replace(/\b[0-9a-f]{24}\b/g, '0123456789abcdef01234567')
    .replace(/^cursor( +)\S+$/m, 'cursor$1eyJmZWVkIjoi…')
    .replaceAll(new RegExp(`\\b${userInfo().username}\\b`, 'g'), 'ada')
    .replace(/[ \t]+$/gm, '');
}

async function transcribe(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'groupsync-transcript-'));
  const localFile = join(folder, '.groupsync/local.json');
  const platform = await openPlatform({ world: WORLD, dataFile: undefined, port: 0 });
  const stack = await startStack({
    prefix: 'groupsync',
    coalesceSeconds: 0,
    ports: { aws: 0, sqs: 0 },
    tables: undefined,
    secrets: undefined,
    platform,
    settings: [],
    everySeconds: { pump: 1, feed: 60, sweep: 600, health: 6_000, people: 600 },
    loadParts,
    onError: () => undefined,
  });
  try {
    writeLocalFile(localFile, stack.address);
    writeFileSync(join(folder, 'members.csv'), CSV);
    writeFileSync(join(folder, 'events.jsonl'), REMOVED);
    writeFileSync(join(folder, 'deadLetters.jsonl'), FOR_ANOTHER);
    writeFileSync(join(folder, 'editor.mjs'), EDITOR);
    return await page(folder);
  } finally {
    await stack.stop();
    await platform.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function page(folder: string): Promise<string> {
  const lines = [
    '# Transcript',
    '',
    'This page shows most commands of the [command line](../cli.md) with their real output, on a local stack (`npm start`).',
    '`npm run docs:transcript` writes the page, with fixed values for times, ids and ports, and without the option `--local` of the commands.',
  ];
  let deadLetter = '';
  let token = '';
  let client = '';
  for (const step of STEPS) {
    if (typeof step === 'string') lines.push('', step);
    else if ('wait' in step) await new Promise((resolve) => setTimeout(resolve, step.wait));
    else {
      const command = step.run
        .replace('DEAD_LETTER', deadLetter)
        .replace('TOKEN', token)
        .replace('CLIENT', client);
      const { output, code } = await groupsync(command, { folder, stdin: step.stdin });
      deadLetter = /│ ([0-9a-f]{8}) │ \w+_/.exec(output)?.[1] ?? deadLetter;
      client = /client id: ([0-9a-f]{8})/.exec(output)?.[1] ?? client;
      token = /gsync_scim_([0-9a-f]{8})/.exec(output)?.[1] ?? token;
      const piped = step.stdin === undefined ? '' : ' < token-file';
      const exit = code === 0 ? '' : `\n[exit ${code}]`;
      lines.push(
        '',
        '```console',
        steady(`$ groupsync ${command}${piped}\n${output.trimEnd()}${exit}`),
        '```',
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Suppresses a notice of the SDK that depends on the Node version. */
const WITHOUT_NOTICE = { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' };

function groupsync(
  command: string,
  { folder, stdin = '' }: { readonly folder: string; readonly stdin?: string | undefined },
): Promise<{ readonly output: string; readonly code: number | null }> {
  const env = {
    ...process.env,
    ...WITHOUT_NOTICE,
    EDITOR: `"${process.execPath}" "${join(folder, 'editor.mjs')}"`,
  };
  const child = spawn(`"${process.execPath}" "${BIN}" --local ${command}`, { cwd: folder, shell: true, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  child.stdin.end(stdin);
  return new Promise((resolve) => child.on('close', (code) => resolve({ output, code })));
}

// The functions write their log to standard output, as Lambda requires. The page must not contain the log.
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (() => true) as typeof process.stdout.write;
const text = await transcribe();
writeFileSync(join(ROOT, 'docs/cli/transcript.md'), text);
write('docs/cli/transcript.md is written\n');
process.exit(0);
