import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { leadingKeysOf } from '../../infra/operators.ts';
import { openDirectory } from '../../local/directory/open-directory.ts';
import { ADMINISTRATOR } from '../../local/directory/world-of-events.ts';
import { startRecorder } from '../../scripts/deploy-check/recorder.ts';
import { DECISION_ATTRIBUTES } from '../../shared/contract/topology.ts';
import { wireTool } from '../../shared/runtime/wire-tool.ts';
import { commandNames, runCli } from '../support/cli/io.ts';
import { acmeOf, nativeEvent } from '../support/events.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startLocalStack } from '../support/local-stack.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { listed, resourcesOf, type Statement, synthesise } from './synthesised.ts';

const PEOPLE = ['ann', 'bob', 'cid', 'dee', 'eve', 'fay'];
const TOKEN = 'token';
const members = (...ids: string[]) => ids.map((id) => ({ id, email: `${id}@acme.test` }));
const snapshot = (id: string, ...of: string[]) =>
  nativeEvent('group.snapshot', { group: { id, name: id }, members: members(...of) });

const URL_OF_PLATFORM = '<platform>';
const DIRECTORY =
  '--directory google --administrator <administrator> --key key.json --directory-url <directory>';
const TAKEOVER = `directory takeover ${DIRECTORY}`;
const CONNECT = `connect second --base-url ${URL_OF_PLATFORM} --token-stdin`;

/**
 * The commands, each with the role that runs it. Commands use data that earlier commands have created. `<…>` is
 * replaced by a value of an earlier command. `resume` would wait for the requeue job, which runs once a minute.
 */
const COMMANDS = (
  [
    [
      'viewer',
      'status; status g; groups; holds; holds show g; pending; log; audit g --verify; explain g ann',
    ],
    [
      'viewer',
      'deliveries; person ann; connections; connections show default; dlq list; dlq show <deadLetter>',
    ],
    [
      'viewer',
      'scim token list; scim client list; members g; members g --at 2026-01-01; diff g --from 2026-01-01; export --all; import m.csv --dry-run; events validate e.jsonl',
    ],
    ['approver', 'holds reject g --reason r; holds approve h --reason r'],
    ['operator', 'doctor; plan; reconcile; sync g; release i; adopt i <group>; pause i --reason r; resume i'],
    [
      'operator',
      'pause --reason r; resume --no-wait; restated --all; rebind unknown r-bob; block ann --reason r; unblock ann; connections set default mode=report; connections export settings; connections apply -f settings',
    ],
    ['operator', 'platform-groups; adopt --all --no-wait; evidence --all --file evidence'],
    ['viewer', 'directory status; directory groups'],
    [
      'operator',
      'directory read; people refresh; events send e.jsonl; import m.csv; forget unknown; undo g --to <now>',
    ],
    ['operator', 'scim token create; scim token revoke <token>; dlq edit <deadLetter> --reason r'],
    ['operator', 'scim client create; scim client rotate <client>; scim client revoke <client>'],
    ['operator', `${TAKEOVER}; resume --no-wait`],
    ['operator', `dlq discard <deadLetter> --reason r; dlq replay --all; probe; ${CONNECT}; ${CONNECT}`],
    ['operator', `connect second ${DIRECTORY}; directory disconnect --connection second`],
    ['operator', 'connections set default fourEyes=true; connections set default guard=null'],
    ['approver', 'connections confirm default --reject'],
    ['operator', `connections remove second; ${CONNECT}; notify list; notify test`],
  ] as const
).flatMap(([who, lines]) => lines.split('; ').map((line) => [who, line] as const));

/** The commands that an operator of one connection may run. */
const FOR_ONE_CONNECTION =
  'status; status g; groups; holds; pending; log; deliveries; diff g --from 2026-01-01; audit g --verify; explain g ann; person ann; plan; reconcile; sync g; release i; pause i --reason r; resume i; pause --reason r; resume --no-wait; rebind unknown r-bob; block ann --reason r; unblock ann; connections set default mode=report; holds reject g --reason r; directory status; directory groups; directory read; people refresh; probe'.split(
    '; ',
  );

const STAGE = synthesise({ connectionOperators: 'default', directory: true });
const POLICIES = Object.values(resourcesOf(STAGE.template, 'AWS::IAM::ManagedPolicy'));
/** Returns every call that a policy of the template allows, as the recorder writes it: `service:Action on name`. */
function grantedTo(who: string): string[] {
  const policy = POLICIES.find(
    ({ Properties }) => Properties.ManagedPolicyName === `groupsync-${who}-eu-west-1`,
  );
  const statements = policy?.Properties.PolicyDocument.Statement as Statement[];
  const allowing = statements.filter(({ Effect }) => Effect === 'Allow');
  const grants = allowing.flatMap(({ Action, Resource }) =>
    listed(Action).flatMap((action) =>
      listed(Resource).map((resource) => `${action} on ${nameOf(resource)}`),
    ),
  );
  return [...new Set(grants.filter((grant) => !grant.startsWith('kms:')))].sort();
}

function nameOf(resource: unknown): string {
  if (resource === '*') return 'any';
  const { 'Fn::Join': join = ['', []] } = resource as { 'Fn::Join'?: [string, unknown[]] };
  const name = String(join[1].at(-1)).replace(/^:(?:function:|schedule\/default\/|secret:|alarm:)?/, '');
  return { 'table/groupsync-state': 'table', 'table/groupsync-state/index/due': 'index' }[name] ?? name;
}

/** Commands that still answer, from stored data, if AWS denies one of their calls. */
const TRIED_ONLY = ['import m.csv --dry-run', 'explain g ann', 'person ann', 'members g'];
const isTriedOnly = (line: string, call: string) =>
  TRIED_ONLY.includes(line) && call === 'lambda:InvokeFunction on groupsync-reconcile';

/** Returns the call in the form for an operator of one connection, with the alias of the function. */
const byAlias = (call: string) => call.replace(/^(lambda:InvokeFunction on \S+)$/, '$1:for-default');

/** Returns true if the policy of a viewer of the default connection refuses a read of this partition. */
const isOfOther = (key: string) =>
  !leadingKeysOf('default').some((pattern) =>
    pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
  );

interface MovedGroup {
  readonly group: string;
  readonly by: string;
}

/** Returns a directory whose groups have these names. Their ids differ from the group ids in events. */
const directoryOf = (names: readonly string[]): WorldInput => ({
  domain: 'acme.example',
  users: [{ id: 'admin', primaryEmail: ADMINISTRATOR, isAdmin: true }],
  groups: names.map((name) => ({ id: `directory-${name}`, email: `${name}@acme.example`, name })),
});

const groupsIn = (state: unknown) =>
  (state as { readonly companies: readonly { readonly groups: readonly unknown[] }[] }).companies.flatMap(
    ({ groups }) => groups,
  );

const LONG = { timeout: PATIENCE_MS, interval: 100 };

it("the commands of operators make exactly the AWS calls that the operators' policy allows", async () => {
  const folder = temporaryFolder();
  const { stack, control, send, converge, readGroups, stop } = await startLocalStack({
    world: acmeOf(PEOPLE, TOKEN),
    pumpSeconds: 60,
    batchingWindowSeconds: 0,
    settings: [],
  });
  const { address } = stack;
  const recorder = await startRecorder((service) =>
    service === 'secretsmanager' ? address.secretsManager : address[service],
  );
  onTestFinished(async () => {
    await recorder.close();
    await stop();
  });
  const { url } = recorder;
  const target = {
    prefix: 'groupsync',
    region: 'us-east-1',
    user: 'tester',
    createSettleMs: 5_000,
    local: { dynamodb: url, sqs: url, secretsManager: url, lambda: url, scheduler: url },
  };
  const seen = { viewer: new Set<string>(), approver: new Set<string>(), operator: new Set<string>() };
  const tried = new Set<string>();
  const filled: Record<string, string> = { platform: address.platform };
  const run = async (line: string) => {
    const tool = await wireTool(target);
    filled['now'] = new Date().toISOString();
    const words = line.replaceAll(/<(\w+)>/g, (_, name: string) => filled[name] ?? name).split(' ');
    (recorder.calls as Set<string>).clear();
    (recorder.leadingKeys as Set<string>).clear();
    (recorder.written as Set<string>).clear();
    const around = { ports: tool.ports, cwd: folder, stdin: TOKEN, env: { EDITOR: 'true' } };
    const ran = await runCli([...words, '--yes', '--json'], around);
    await tool.close();
    return ran;
  };
  const deadLetter = async () => {
    await send(['no event']);
    await vi.waitUntil(async () => {
      filled['deadLetter'] = (await run('dlq list --queue events')).json?.messages[0]?.id;
      return filled['deadLetter'] !== undefined;
    }, LONG);
  };
  writeFileSync(join(folder, 'e.jsonl'), `${snapshot('new', 'ann')}\n`);
  writeFileSync(join(folder, 'm.csv'), 'group id,group name,member id,email\ncsv,csv,ann,ann@acme.test\n');
  await send([snapshot('g', ...PEOPLE), snapshot('h', ...PEOPLE), snapshot('i', 'ann', 'unknown')]);
  await converge();
  await send([snapshot('g', 'ann'), snapshot('h', 'ann')]);
  const held = async () => (await readGroups()).filter(({ state }) => state === 'held').length === 2;
  await vi.waitUntil(held, LONG);
  const MessageBody = '{"connection":"default","group":"g","rev":1}';
  await stack.sqs.send(new SendMessageCommand({ QueueUrl: address.applyDlqUrl, MessageBody }));
  // This dead-lettered message names no connection, so the command looks up the connection of the source's queue. It is
  // the oldest message, so a command discards it before another command replays all messages.
  const MessageAttributes = { queue: { DataType: 'String', StringValue: 'groupsync-events-okta' } };
  const moved = { QueueUrl: address.eventsDlqUrl, MessageBody: '{', MessageAttributes };
  await stack.sqs.send(new SendMessageCommand(moved));
  filled['group'] = (await run('status i')).json?.platformId;
  const directory = await openDirectory('google', directoryOf(['g', 'i']));
  onTestFinished(directory.close);
  writeFileSync(join(folder, 'key.json'), JSON.stringify(directory.key));
  filled['directory'] = directory.url;
  filled['administrator'] = ADMINISTRATOR;
  for (const [who, line] of COMMANDS) {
    const groupsBefore = groupsIn(await control('state'));
    if (/<deadLetter>|dlq replay/.test(line)) await deadLetter();
    const { code, stderr, json } = await run(line);
    // The alarm topic of this stack has no subscriber, and `notify test` reports this.
    expect([0, line === 'notify test' ? 1 : 3], `${line}: ${code} ${stderr}`).toContain(code);
    if (line === TAKEOVER) {
      expect(json?.groups.map(({ group, by }: MovedGroup) => `${group} by ${by}`)).toEqual([
        'g by name',
        'i by name',
      ]);
      expect(groupsIn(await control('state'))).toEqual(groupsBefore);
    }
    filled['token'] ??= json?.prefix;
    filled['client'] ??= json?.clientId;
    // SCIM commands find tokens by their prefix, and the keys of tokens contain no connection. So these commands are
    // not checked.
    if (who === 'viewer' && !line.startsWith('scim '))
      expect([...recorder.leadingKeys].filter(isOfOther), line).toEqual([]);
    expect(
      DECISION_ATTRIBUTES.filter((name) => recorder.written.has(name)),
      line,
    ).toEqual([]);
    const allowed = grantedTo(who);
    if (FOR_ONE_CONNECTION.includes(line)) {
      tried.add(line);
      expect([...recorder.leadingKeys].filter(isOfOther), line).toEqual([]);
      expect(grantedTo('operator-default'), line).toEqual(
        expect.arrayContaining([...recorder.calls].map(byAlias)),
      );
    }
    for (const call of recorder.calls) {
      const named = call.replace(/(?<=groupsync\/connections\/).*/, '*');
      if (isTriedOnly(line, named)) continue;
      expect(allowed, `${who}: ${line}`).toContain(named);
      seen[who].add(named);
    }
    // The requeue job finishes the move of a group with decisions, which operators may not write.
    if (line === TAKEOVER)
      await vi.waitFor(async () => expect((await run('directory status')).json?.openMoves).toBeNull(), {
        timeout: PATIENCE_MS,
        interval: 500,
      });
  }
  expect([...tried].sort()).toEqual(FOR_ONE_CONNECTION.toSorted());
  const isTried = (name: string) => !/^(console|deploy|destroy|evidence verify)/.test(name);
  const commands = commandNames().filter(isTried);
  const lines = COMMANDS.map(([, line]) => line);
  expect(commands.filter((name) => !lines.some((line) => `${line} list `.includes(`${name} `)))).toEqual([]);
  // Calls to services that the local stack does not have.
  const elsewhere = /Describe(?!Table)|GetPolicy|GetFunctionConcurrency|GetAccountSettings|cloudwatch:|sns:/;
  for (const who of ['viewer', 'approver', 'operator'] as const) {
    const called = [...seen.viewer, ...seen[who]];
    expect(
      grantedTo(who).filter((grant) => !elsewhere.test(grant) && !called.includes(grant)),
      who,
    ).toEqual([]);
  }
});
