import { expect, it } from 'vitest';
import { runCli } from '../support/cli/io.ts';
import { temporaryFile } from '../support/folder.ts';
import { applicantOf, removed, sixInSync } from '../support/operate/world.ts';

const TOKEN = 'a-token-that-stays-secret';
const CTRL_C = '\u0003';
const ENTER = '\r';

async function worldOf() {
  const world = await sixInSync();
  const stored: string[] = [];
  const ports = {
    ...world.ports,
    applicants: { present: () => applicantOf('company'), stored: async () => applicantOf('company') },
    vault: { ...world.ports.vault, store: async (_: string, token: string) => `v${stored.push(token)}` },
  };
  const at = (args: readonly string[], ...person: (readonly [sees: string, types: string])[]) =>
    runCli(args, { ports, person: person.map(([sees, types]) => ({ sees, types })) });
  return { ...world, stored, at };
}

it('connect asks for every value, hides the token, and asks before it stores anything', async () => {
  const { at, ports, stored } = await worldOf();
  const { code, stdout, stderr } = await at(
    ['connect', 'new'],
    ['Address of the platform', `https://platform.test${ENTER}`],
    ['Token of the OAuth application', `${TOKEN}${ENTER}`],
    ['Which id of an employee do groups', `\u001b[B${ENTER}`],
    ['Store the connection new?', 'y\r'],
  );
  expect({ code, stored }).toEqual({ code: 0, stored: [TOKEN] });
  expect((await ports.connections.current('new' as never))?.settings.memberIdField).toBe('id');
  expect(stdout).toContain('connected new');
  expect(stderr + stdout).not.toContain(TOKEN);
});

it.each([
  ['the address', []],
  ['the token', [['Address', `https://platform.test${ENTER}`]]],
  [
    'the question for the kind of id in groups',
    [
      ['Address', `https://platform.test${ENTER}`],
      ['Token', `${TOKEN}${ENTER}`],
    ],
  ],
  [
    'the last question',
    [
      ['Address', `https://platform.test${ENTER}`],
      ['Token', `${TOKEN}${ENTER}`],
      ['Which id', ENTER],
    ],
  ],
] as const)('Ctrl-C at %s ends connect with one line, and nothing is stored', async (_, before) => {
  const { at, stored } = await worldOf();
  const questions = [
    'Address of the platform',
    'Token of the OAuth',
    'Which id of an employee',
    'Store the connection',
  ];
  const { code, stdout, stderr } = await at(['connect', 'new'], ...before, [
    questions[before.length] ?? '',
    CTRL_C,
  ]);
  expect({ code, stdout, stored }).toEqual({ code: 1, stdout: '', stored: [] });
  expect(stderr).toMatch(/groupsync: stopped; nothing was changed\n$/);
  expect(stderr).not.toMatch(/\n\s+at /);
});

it.each([
  ['Ctrl-C', CTRL_C, /groupsync: stopped; nothing was changed\n$/],
  ['Enter, which is No', ENTER, /nothing was changed\n$/],
  ['n', 'n\r', /nothing was changed\n$/],
])('the answer %s to a confirmation changes nothing, and the command says so', async (_, types, says) => {
  const { at, table, mailboxes, deliver } = await worldOf();
  await deliver('g', removed('g', 'ann', 'bob', 'cid', 'dee', 'eve'));
  mailboxes.events.add({ id: 'one', body: '{', code: 'invalid_json' });
  const before = JSON.stringify([...table.items]);
  const changing: [string[], string][] = [
    [['sync', 'g'], 'Sync 1 group?'],
    [['holds', 'approve', 'g', '--reason', 'r'], 'Remove 5 members?'],
    [['dlq', 'replay', '--all'], 'Replay 1 message?'],
    [['dlq', 'discard', 'one', '--reason', 'r'], 'This cannot be undone.'],
    [['import', temporaryFile('m.csv', 'g,Group g,m-ann,'), '--as-of', 'now'], 'Send'],
    [['pause'], 'Pause the connection'],
    [['connections', 'remove', 'default'], 'Remove the connection'],
  ];
  for (const [args, sees] of changing) {
    const { code, stderr } = await at(args, [sees, types]);
    expect(code, args.join(' ')).toBe(1);
    expect(stderr, args.join(' ')).toMatch(says);
  }
  expect(JSON.stringify([...table.items])).toBe(before);
  expect(mailboxes.events.ids()).toEqual(['one']);
});

it.each([
  ['y', 'y\r', 'paused'],
  ['yes', 'Yes\r', 'paused'],
  ['a text that only begins with y', 'yesterday\r', 'open'],
])('a question accepts only y and yes as confirmation (answer: %s)', async (_, answer, state) => {
  const { at, ports } = await worldOf();
  await at(['pause'], ['Pause the connection', answer]);
  expect(await ports.gates.read('default' as never)).toMatchObject({ state });
});
